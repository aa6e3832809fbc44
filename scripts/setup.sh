#!/bin/sh
# Usage: setup.sh run|dev
# Makes .venv with the locked packages and this project in it. PYTHON names another interpreter.
set -eu

cd "$(dirname "$0")/.."
# shellcheck source=scripts/apt.sh
. scripts/apt.sh

case ${1-} in
    run) lock=requirements.lock stamps=.venv/stamp-run ;;
    dev) lock=requirements-dev.lock stamps='.venv/stamp-dev .venv/stamp-run' ;;
    *) echo "usage: $0 run|dev" >&2; exit 2 ;;
esac

# A Python of 3.11 or later that can make a virtual environment.
suits() {
    "$1" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

find_python() {
    for python in ${PYTHON-python3 python3.13 python3.12 python3.11}; do
        if suits "$python"; then return 0; fi
    done
    return 1
}

install_python() {
    apt_may python3 python3-venv || return 1
    apt_get update
    for version in 3 3.13 3.12 3.11; do
        candidate=$(apt_candidate "python$version-venv")
        if [ -n "$candidate" ] && dpkg --compare-versions "$candidate" ge 3.11; then
            apt_install "python$version" "python$version-venv"
            return
        fi
    done
    echo 'error: the package lists of this machine have no Python 3.11 or later' >&2
    return 1
}

place="$(pwd -P) ${PYTHON-}"
state=$(echo "$place"; sha256sum requirements*.lock pyproject.toml exporter/__init__.py scripts/setup.sh)
if [ "$state" = "$(cat "${stamps%% *}" 2>/dev/null)" ] && .venv/bin/python -c '' 2>/dev/null; then
    exit 0
fi

if ! find_python; then
    if [ -n "${PYTHON-}" ]; then
        echo "error: PYTHON=$PYTHON is no Python 3.11 or later with the module venv" >&2
        exit 1
    fi
    install_python
    find_python || { echo 'error: the installed Python cannot make a venv' >&2; exit 1; }
fi

echo "Setting up .venv with $("$python" --version) and $lock" >&2
# A venv of another place, for another Python or of one that is gone is of no use.
if [ "$(cat .venv/place 2>/dev/null)" != "$place" ] || ! suits .venv/bin/python; then
    "$python" -m venv --clear .venv
    echo "$place" >.venv/place
fi
rm -f .venv/stamp-*
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1
.venv/bin/python -m pip install -q --only-binary :all: --require-hashes -r "$lock"
.venv/bin/python -m pip install -q --no-deps --no-build-isolation --no-index -e .
for stamp in $stamps; do echo "$state" >"$stamp"; done
