#!/bin/sh
# Usage: [LISTEN=:9150] [MEMCACHED=host:port] run.sh [flags of memcached-exporter]
# Runs the exporter until Ctrl-C. Without MEMCACHED, it reads the memcached on 127.0.0.1:11211,
# and starts one there for as long as the exporter runs when none answers.
set -eu

cd "$(dirname "$0")/.."
listen=${LISTEN:-:9150}
memcached=${MEMCACHED:-127.0.0.1:11211}
cache='' exporter=''

answers() {
    .venv/bin/python - <<'END' 2>/dev/null
import socket
with socket.create_connection(("127.0.0.1", 11211), 1) as connection:
    connection.sendall(b"version\r\n")
    assert connection.recv(64).startswith(b"VERSION ")
END
}

# True as soon as memcached answers; false after 3 s, or when the one started here has ended.
answers_soon() {
    for _ in 1 2 3 4 5 6; do
        if answers; then return 0; fi
        if [ -n "$cache" ] && ! kill -0 "$cache" 2>/dev/null; then return 1; fi
        sleep 0.5
    done
    return 1
}

# shellcheck disable=SC2317 # called by the trap
stop() {
    trap '' INT TERM HUP
    for process in $exporter $cache; do
        kill "$process" 2>/dev/null || true
        wait "$process" || true
    done
}

start_memcached() {
    user=
    if [ "$(id -u)" -eq 0 ]; then
        if id memcache >/dev/null 2>&1; then user='-u memcache'; else user='-u nobody'; fi
    fi
    # shellcheck disable=SC2086 # two words or none
    setsid memcached -l 127.0.0.1 -p 11211 -m 64 $user &
    cache=$!
    if ! answers_soon; then
        echo 'error: no memcached on 127.0.0.1:11211; name another: make run MEMCACHED=host:port' >&2
        exit 1
    fi
    echo 'Started a memcached on 127.0.0.1:11211; it ends with the exporter.'
}

# Both run in sessions of their own, so that Ctrl-C reaches this script alone, which then ends the
# exporter first and the memcached after it.
trap stop EXIT
trap 'exit 0' INT TERM HUP

if [ -z "${MEMCACHED-}" ] && ! answers; then
    if command -v memcached >/dev/null; then
        start_memcached
    else
        scripts/need.sh memcached:memcached
        # On a machine with systemd the package has started the service.
        answers_soon || start_memcached
    fi
fi

case $listen in
    :*) url=http://127.0.0.1$listen ;;
    0.0.0.0:* | '[::]:'*) url=http://127.0.0.1:${listen##*:} ;;
    *) url=http://$listen ;;
esac
cat <<END
Status page:  $url/
Metrics:      $url/metrics
Any server:   $url/scrape?target=$memcached
Stop with Ctrl-C.
END

setsid .venv/bin/memcached-exporter \
    --memcached.address="$memcached" --web.listen-address="$listen" "$@" &
exporter=$!
status=0
wait "$exporter" || status=$?
exporter=''
exit "$status"
