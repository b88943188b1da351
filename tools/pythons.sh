# Sourced by try_pythons.sh and try_wheels.sh.

# The interpreter of a version: the first that starts and says that it is this one.
found() {
    local each
    for each in "python$1" "$HOME/.pyenv/versions/$1".*/bin/python "$HOME/.local/share/uv/python/cpython-$1".*/bin/python; do
        if "$each" -c "import sys; sys.exit('%d.%d' % sys.version_info[:2] != '$1')" 2>/dev/null; then
            echo "$each"
            return
        fi
    done
}
