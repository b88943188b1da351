#!/usr/bin/env bash
# A part of the tests on every other version of Python that is found: in the PATH, of pyenv and of uv.
#
#     tools/try_pythons.sh [VERSION ...]
#
# Each gets an environment of its own. A version that is not there is said to be untested, which is no failure.
set -euo pipefail
cd "$(dirname "$0")/.."
tests=(tests/test_{rules,functors,printing,timeouts,forks,bfs,arithmetic}.py)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export FRONTIER_CACHE_DIR="$folder/cache" FRONTIER_QUIET=1

. tools/pythons.sh

failed=
for version in "${@:-3.12 3.13 3.14}"; do
    for each in $version; do
        python=$(found "$each")
        if [ -z "$python" ]; then
            echo "untested: no python$each"
            continue
        fi
        echo "python$each: $("$python" --version), $python"
        "$python" -m venv "$folder/$each"
        if ! "$folder/$each/bin/pip" install -q -e ".[test]"; then
            echo "untested: python$each, for which the dependencies cannot be installed"
            continue
        fi
        run=("$folder/$each/bin/python" -m pytest -q -n 2 -p no:cacheprovider)
        # What prints holds Python's lock, which each version keeps in its own way.
        { "${run[@]}" "${tests[@]}" && "${run[@]}" -m deep tests/test_printing.py; } || failed="$failed $each"
    done
done
if [ -n "$failed" ]; then
    echo "failed on Python$failed" >&2
    exit 1
fi
