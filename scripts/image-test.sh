#!/bin/sh
# Builds the image with buildah and tries it: it runs as nobody, reads a memcached, and is healthy.
# Usage, as root: image-test.sh [BASE]. Without a base image that is here already, one is made of
# Debian's packages.
set -eu

cd "$(dirname "$0")/.."
scripts/need.sh buildah:buildah debootstrap:debootstrap memcached:memcached
export STORAGE_DRIVER=vfs BUILDAH_ISOLATION=chroot
base=${1:-}
work=$(mktemp -d)
pids=
# The container's processes are children of buildah: each program has a session of its own, so that
# all of it ends.
trap 'for pid in $pids; do kill -- "-$pid" 2>/dev/null || :; done; rm -rf "$work"' EXIT

if [ -z "$base" ]; then
    debootstrap --variant=minbase trixie "$work/root" >"$work/debootstrap.log"
    empty=$(buildah from scratch)
    buildah add -q "$empty" "$work/root" / >/dev/null
    base=$(buildah commit -q "$empty" localhost/trixie-minimal)
    buildah rm "$empty" >/dev/null
fi
buildah build --format docker --pull=never --build-arg "BASE=$base" -t localhost/memcached-exporter .

setsid memcached -l 127.0.0.1 -p 21211 -u nobody &
pids="$pids $!"
container=$(buildah from --pull=never localhost/memcached-exporter)
setsid buildah run "$container" -- memcached-exporter \
    --memcached.address=127.0.0.1:21211 --web.listen-address=127.0.0.1:29150 \
    >"$work/run.log" 2>&1 &
pids="$pids $!"

ask='import os, urllib.request as r; print(r.urlopen(os.environ["HEALTH_URL"], timeout=2).read())'
in_image() {
    buildah run --env HEALTH_URL="http://127.0.0.1:29150$1" "$container" -- \
        /opt/memcached-exporter/bin/python -c "$ask"
}
tries=0
until in_image /-/healthy 2>/dev/null; do
    tries=$((tries + 1))
    [ "$tries" -lt 50 ] || { echo "error: not healthy" >&2; exit 1; }
    sleep 0.2
done
in_image /metrics | grep -q 'memcached_up{server="127.0.0.1:21211"} 1' || {
    echo "error: memcached is not read" >&2
    exit 1
}
[ "$(buildah run "$container" -- id -u)" = 65534 ] || { echo "error: not nobody" >&2; exit 1; }
kill -- "-${pids##* }"
sleep 1
buildah rm "$container" >/dev/null
buildah images localhost/memcached-exporter
