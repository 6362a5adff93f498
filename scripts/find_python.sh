#!/usr/bin/env bash
# Prints the Python to build .venv with. As root, workers run as other users: a Python that lies in a home which
# others cannot enter (as pyenv's does in root's) starts, but every later import of the standard library fails in a worker. So prefer one that
# everybody can read.
set -u
for candidate in python3.12 python3.11 python3.13 python3.10 python3 /usr/bin/python3; do
    path=$(type -P "$candidate") || continue
    prefix=$("$path" -c 'import sys; sys.version_info >= (3, 10) or sys.exit(1); print(sys.base_prefix)' 2>/dev/null) || continue
    "$path" -c 'import venv, ensurepip' 2>/dev/null || continue
    fallback=${fallback:-$path}
    readable=yes
    folder=$prefix
    while [ "$folder" != / ]; do
        case $(stat -Lc %A "$folder" 2>/dev/null) in *x|*t) ;; *) readable=no ;; esac
        folder=$(dirname "$folder")
    done
    [ "$readable" = yes ] && { echo "$path"; exit 0; }
done
[ -n "${fallback:-}" ] && { echo "$fallback"; exit 0; }
echo "No Python 3.10 to 3.13 with venv was found: install python3 and python3-venv." >&2
exit 1
