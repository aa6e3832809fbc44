#!/bin/sh
# Usage: need.sh [--if-any] COMMAND:PACKAGE...
# Installs the packages whose commands are missing. With --if-any those that this distribution does
# not have are done without.
set -eu

# shellcheck source=scripts/apt.sh
. "$(dirname "$0")/apt.sh"

if_any=
[ "$1" != --if-any ] || { if_any=yes; shift; }

missing=
for pair in "$@"; do
    command -v "${pair%%:*}" >/dev/null || missing="$missing ${pair#*:}"
done
[ -n "$missing" ] || exit 0
if [ -n "$if_any" ]; then
    # shellcheck disable=SC2086 # a list of words
    apt_install $missing || echo "going on without: $missing" >&2
else
    # shellcheck disable=SC2086 # a list of words
    apt_install $missing
fi
