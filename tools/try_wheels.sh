#!/usr/bin/env bash
# The wheel in empty environments: on each Python, with the oldest and the newest NumPy, and with each extra alone.
#
#     tools/try_wheels.sh [pythons] [numpy] [extras] [dry]
#
# Without arguments all four; EXTRAS="io plot" tries those extras only. It builds the wheel with the Python of .venv, or
# $PYTHON, which needs the package "build", and downloads what it installs. Extras that download gigabytes are only resolved.
# A Python that is not there is said to be untested, which is no failure; otherwise the script ends at the first thing that
# fails.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export FRONTIER_CACHE_DIR="$folder/cache" FRONTIER_QUIET=1
unset PYTHONPATH
"${PYTHON:-.venv/bin/python}" -m build --outdir "$folder/dist" . >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
wheel=$(echo "$folder"/dist/*.whl)
# shellcheck source=tools/pythons.sh
. tools/pythons.sh
cd "$folder"  # away from the checkout

# An empty environment in $folder/env with what pip is given, on a version of Python.
environment() {
    rm -rf env
    "$(found "$1")" -m venv env
    env/bin/pip install -q --disable-pip-version-check "${@:2}"
    env/bin/python -c "
import sys, numba, numpy, frontier
print(f'  Python {sys.version.split()[0]}, NumPy {numpy.__version__}, numba {numba.__version__}, Frontier {frontier.__version__}')"
}

# What works without any extra.
basics() {
    env/bin/frontier doctor >log || { cat log; exit 1; }
    env/bin/frontier bfs karate --source 0 --verify >log || { cat log; exit 1; }
    echo "  doctor, bfs: ok"
}

# What an extra is for.
purpose() {
    case $1 in
    io) env/bin/python -c "import frontier as fr; fr.from_networkx(fr.to_networkx(fr.karate())); fr.to_scipy(fr.karate())" ;;
    plot | all) env/bin/frontier pagerank karate --plot picture.png >/dev/null && test -s picture.png ;;
    ranks) PATH="$PWD/env/bin:$PATH" mpirun -n 2 frontier bfs karate --source 0 --backend ranks --verify >/dev/null ;;
    tables) env/bin/frontier pagerank karate --output table.parquet >/dev/null && test -s table.parquet ;;
    dask | ray) env/bin/python cluster.py "$1" >log 2>&1 || { cat log; exit 1; } ;;
    packed) env/bin/python -c "import zstandard" ;;
    test) env/bin/pytest --version >/dev/null && env/bin/python -c "import hypothesis, xdist, greenlet" ;;
    docs) env/bin/sphinx-build --version >/dev/null && env/bin/python -c "import furo, myst_parser, sphinx_gallery" ;;
    dev) env/bin/ruff --version >/dev/null && env/bin/mypy --version >/dev/null && env/bin/twine --version >/dev/null ;;
    *) echo "nothing tries the extra $1" && return 1 ;;
    esac
    echo "  what [$1] is for: ok"
}

cat >cluster.py <<'END'
import sys

import frontier as fr

if __name__ == "__main__":
    fr.write(fr.karate(), "karate.csv")
    if sys.argv[1] == "dask":
        from distributed import Client

        c = fr.cluster(Client(n_workers=2, threads_per_worker=1, dashboard_address=None))
    else:
        c = fr.cluster("ray")
    assert fr.bfs(c.read("karate.csv"), 0).level.max() == 3
END

newest=3.11
for each in 3.12 3.13; do if [ -n "$(found $each)" ]; then newest=$each; fi; done
heavy="cuda12 cuda13 cuda-compile torchrun"
extras=${EXTRAS:-$(unzip -p "$wheel" "*.dist-info/METADATA" | sed -n 's/^Provides-Extra: //p')}

for part in ${*:-pythons numpy extras dry}; do
    case $part in
    pythons)
        for each in 3.11 3.12 3.13 3.14; do
            echo "python$each"
            if [ -z "$(found $each)" ]; then echo "  untested: there is none" && continue; fi
            environment $each "$wheel"
            basics
        done
        ;;
    numpy)
        echo "the oldest dependencies, on the oldest Python"
        oldest=$(unzip -p "$wheel" "*.dist-info/METADATA" | sed -n 's/^Requires-Dist: \([a-z]*\)>=\([0-9.]*\)$/\1==\2/p')
        # shellcheck disable=SC2086  # several requirements
        environment 3.11 "$wheel" $oldest
        basics
        ;;
    extras)
        for each in $extras; do
            case " $heavy " in *" $each "*) continue ;; esac
            echo "[$each]"
            environment "$newest" "$wheel[$each]"
            basics
            purpose "$each"
        done
        ;;
    dry)
        for each in $heavy; do
            echo "[$each], resolved only"
            rm -rf env && "$(found "$newest")" -m venv env
            env/bin/pip install -q --disable-pip-version-check --dry-run --report report.json "$wheel[$each]"
            env/bin/python -c "
import json
for item in json.load(open('report.json'))['install']:
    print('  ' + item['metadata']['name'], item['metadata']['version'])" | sort -f
        done
        ;;
    *) echo "unknown: $part" >&2 && exit 2 ;;
    esac
done
