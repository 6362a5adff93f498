#!/usr/bin/env bash
# Gradescope runs this once, as root, when the image is built; nothing of it runs for a submission. It makes a virtual
# environment of its own (the system's Python is the platform's), installs what grading needs in pinned versions, and
# grades the reference: without full marks the build fails.
#
#   SOFTMARK_TORCH_INDEX   where torch comes from (default: PyTorch's public index of CPU builds; empty: pip's own)
#   SOFTMARK_HOME          where the environment lies (default: /opt/softmark; every user must be able to read it)
set -euo pipefail
umask 022
source_folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
home=${SOFTMARK_HOME:-/opt/softmark}
torch_index=${SOFTMARK_TORCH_INDEX-https://download.pytorch.org/whl/cpu}

fail() {
    printf '\n%s\n' "==================== softmark: the build failed ====================" >&2
    printf '%s\n' "$@" >&2
    printf '%s\n' "====================================================================" >&2
    exit 1
}

again() { # a command, up to four times: registries are out of reach for a moment now and then
    local try
    for try in 1 2 3; do
        if "$@"; then return 0; fi
        echo "softmark: that failed; try $((try + 1)) of 4 in $((try * 5)) s" >&2
        sleep $((try * 5))
    done
    "$@"
}

suitable() { # a Python that grading runs on, with what a virtual environment needs
    "$1" -c 'import sys, venv, ensurepip; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 13))' 2> /dev/null
}

find_python() {
    local candidate
    for candidate in /usr/bin/python3 python3 python3.13 python3.12 python3.11 python3.10; do
        if suitable "$candidate"; then
            type -P "$candidate"
            return 0
        fi
    done
    return 1
}

install() {
    type -P apt-get > /dev/null || return 1
    again apt-get -q update && DEBIAN_FRONTEND=noninteractive again apt-get -q install -y --no-install-recommends "$@"
}

has_seccomp() {
    "$python" -c 'import ctypes.util, sys; sys.exit(ctypes.util.find_library("seccomp") is None)'
}

python=$(find_python) || { install python3 python3-venv && python=$(find_python); } || fail \
    "There is no Python 3.10 to 3.13 with venv on this image ($(python3 --version 2>&1 || true))." \
    "Choose the base image Ubuntu 22.04 (or newer) in Configure Autograder."
has_seccomp || install libseccomp2 || fail "The library libseccomp is missing, and could not be installed."
echo "softmark: $("$python" --version) at $python"

rm -rf "$home/venv"
mkdir -p "$home"
"$python" -m venv "$home/venv" || fail "The virtual environment could not be made with $python."
pip=("$home/venv/bin/python" -m pip --disable-pip-version-check --no-input)
fetch=("${pip[@]}" install --quiet --no-cache-dir --only-binary :all:)
from=()
if [ -n "$torch_index" ]; then from=(--index-url "$torch_index"); fi
if compgen -G "$source_folder/wheels/torch-*.whl" > /dev/null; then from=(--no-index --find-links "$source_folder/wheels"); fi
again "${fetch[@]}" --no-deps ${from[@]+"${from[@]}"} -r "$source_folder/torch.txt" || fail \
    "torch could not be installed (${from[*]:-from the configured index}): see the lines above." \
    "Is that index out of reach? Set SOFTMARK_TORCH_INDEX at the top of setup.sh to a mirror of it, or put the wheel" \
    "of torch for $("$python" --version) into a folder wheels/ of the zip (softmark package --wheel FILE)."
again "${fetch[@]}" -r "$source_folder/requirements.txt" || fail \
    "What grading needs could not be installed: see the lines above."
"${pip[@]}" install --quiet --no-deps "$source_folder"/softmark-*.whl || fail \
    "The package softmark could not be installed: see the lines above."
"${pip[@]}" check || fail "Installed packages do not fit together: see the lines above."

chmod -R go-rwx "$source_folder"
chmod -R a+rX "$home"

echo "softmark: grading the reference"
"$home/venv/bin/python" -I -m autograder.gradescope.selftest "$source_folder" || fail \
    "The reference does not get full marks on this image: nobody's work would be graded right." \
    "What failed stands above. softmark validate says whether it does on your own machine."
echo "softmark: ready"
