#!/bin/sh
# Usage: need.sh COMMAND:PACKAGE...
# Installs the packages whose commands are missing.
set -eu

# shellcheck source=scripts/apt.sh
. "$(dirname "$0")/apt.sh"

missing=
for pair in "$@"; do
    command -v "${pair%%:*}" >/dev/null || missing="$missing ${pair#*:}"
done
# shellcheck disable=SC2086 # a list of words
[ -z "$missing" ] || apt_install $missing
