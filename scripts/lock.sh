#!/bin/sh
# Usage: lock.sh [flags of pip-compile, such as --upgrade]
# Writes the lock files anew from pyproject.toml, with Python 3.11: what only the oldest
# supported Python needs must be in them. Without --upgrade, pins that still fit stay.
set -eu

cd "$(dirname "$0")/.."
python=${PYTHON:-python3.11}
"$python" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null || {
    echo "error: need Python 3.11; $python is none (set PYTHON)" >&2
    exit 1
}

tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT
"$python" -m venv "$tools"
"$tools/bin/pip" install -q --disable-pip-version-check pip-tools==7.6.2

# Names, versions and hashes only; no address of any index, no path. By default pip-compile leaves
# setuptools out as unsafe; the installation of the project itself needs it.
compile() {
    "$tools/bin/pip-compile" -q --generate-hashes --strip-extras --no-emit-options --no-header \
        --no-annotate --allow-unsafe --unsafe-package=pip --build-deps-for=editable \
        "$@" pyproject.toml
}

compile --extra=fast --output-file=requirements.lock "$@"
compile --extra=fast,dev --constraint=requirements.lock --output-file=requirements-dev.lock "$@"
