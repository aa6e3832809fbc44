# shellcheck shell=sh
# To be sourced: install Debian or Ubuntu packages as root or with sudo.

apt_get() {
    # NEEDRESTART_SUSPEND: restart no service that has nothing to do with this.
    set -- env DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1 \
        apt-get -qq -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 "$@"
    if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi </dev/null >/dev/null
}

# apt_may PACKAGE...: can they be installed here? Says in one line what to do when not.
apt_may() {
    if ! command -v apt-get >/dev/null; then
        echo "error: no apt-get here; install by hand what Debian has in: $*" >&2
    elif [ "$(id -u)" -ne 0 ] && ! { command -v sudo >/dev/null && sudo true; }; then
        echo "error: neither root nor sudo; run as root: apt-get install $*" >&2
    else
        return 0
    fi
    return 1
}

# apt_candidate PACKAGE: the version that would be installed, or nothing.
apt_candidate() {
    apt-cache policy "$1" 2>/dev/null | sed -n 's/^ *Candidate: \([0-9].*\)/\1/p'
}

# apt_install PACKAGE...: asks for new package lists only where the present ones do not do.
apt_install() {
    apt_may "$@" || return 1
    echo "Installing with apt-get: $*" >&2
    for package in "$@"; do
        if [ -z "$(apt_candidate "$package")" ]; then
            apt_get update || return 1
            break
        fi
    done
    apt_get install -y --no-install-recommends "$@" || {
        apt_get update && apt_get install -y --no-install-recommends "$@"
    }
}
