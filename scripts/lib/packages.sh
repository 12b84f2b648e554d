# Sourced by the scripts beside it: finds Swift, and installs the system packages that are missing.
# Nothing is printed and nothing is done when all is there.

# The oldest Swift whose package manager reads this manifest.
readonly swift_floor_major=6 swift_floor_minor=2

# What compiling needs, and what the tests need besides: nginx is the HTTP/2 peer.
readonly build_packages=(libcurl4-openssl-dev libssl-dev zlib1g-dev pkg-config ca-certificates)
readonly test_packages=(nginx-light openssl)
# What a toolchain unpacked on a bare system lacks: the libraries of its own programs, and headers, start files and
# a linker for what it builds.
readonly toolchain_libraries=(libncurses6 libsqlite3-0 libxml2)
readonly toolchain_packages=(g++ git)

# Debian keeps nginx in a folder that is not on everybody's path.
export PATH="$PATH:/usr/sbin:/sbin"

fail() {
    printf '%s: %s\n' "$(basename "$0")" "$*" >&2
    exit 1
}

# show_failure LOG: what a failed build or check said: its errors, which may stand far above the end, and its last lines.
show_failure() {
    grep -E -A 3 'error:' "$1" | head -n 40 || true
    echo ...
    tail -n 20 "$1"
}

# Prints the comment block at the top of the calling script, without its first line and the hashes.
print_help() {
    awk 'NR == 1 { next } /^#/ { sub(/^# ?/, ""); print; next } { exit }' "$0"
}

require_swift() {
    local install="Install it from https://www.swift.org/install/linux and open a new shell."
    command -v swift >/dev/null \
        || fail "Swift $swift_floor_major.$swift_floor_minor or newer is needed, but there is no 'swift' on the path. $install"
    local folder libraries version major minor needed=("${toolchain_packages[@]}")
    folder=$(dirname "$(readlink -f "$(command -v swift)")")
    libraries=$(ldd "$folder"/{swift,clang,lld} 2>/dev/null) || true
    [[ $libraries != *'not found'* ]] || needed+=("${toolchain_libraries[@]}")
    require_packages "${needed[@]}"
    version=$(swift --version 2>&1) || fail "'swift --version' fails: $version. $install"
    version=$(sed -n 's/.*Swift version \([0-9][0-9]*\.[0-9][0-9]*\).*/\1/p' <<<"$version" | head -n 1)
    [ -n "$version" ] || fail "'swift --version' does not say which version it is. $install"
    major=${version%%.*} minor=${version#*.}
    if ((major < swift_floor_major || (major == swift_floor_major && minor < swift_floor_minor))); then
        fail "Swift $swift_floor_major.$swift_floor_minor or newer is needed, and this is $version. $install"
    fi
}

# Programs count as present wherever they come from; libraries only as the package with their headers.
is_present() {
    case $1 in
        pkg-config | openssl | git) command -v "$1" >/dev/null ;;
        # The compiler itself is not used, and an image that brings Swift may have the rest alone.
        g++) compgen -G '/usr/include/c++/*' >/dev/null && compgen -G '/usr/lib/gcc/*/*/crtbeginS.o' >/dev/null \
            && command -v ld >/dev/null ;;
        nginx-light) command -v nginx >/dev/null ;;
        *) [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ] ;;
    esac
}

# On a system that is no Debian: look for the things themselves, and name them when they are not there.
require_without_apt() {
    command -v pkg-config >/dev/null && pkg-config --exists libcurl openssl zlib \
        || fail "needs pkg-config and the headers of libcurl (OpenSSL flavor), OpenSSL and zlib: install them with this system's package manager."
    local package
    for package in "$@"; do
        case $package in
            nginx-light) command -v nginx >/dev/null || fail "needs nginx: install it with this system's package manager." ;;
            openssl) command -v openssl >/dev/null || fail "needs the openssl command: install it with this system's package manager." ;;
        esac
    done
}

as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif [ -t 0 ]; then
        sudo "$@"
    else
        sudo -n "$@"
    fi
}

# require_packages NAME…: installs those that are missing.
require_packages() {
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        require_without_apt "$@"
        return
    fi
    local package missing=()
    for package in "$@"; do
        is_present "$package" || missing+=("$package")
    done
    [ ${#missing[@]} -gt 0 ] || return 0

    local by_hand="sudo apt-get install ${missing[*]}"
    if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
        fail "these packages are missing, and only root can install them (there is no sudo here): ${missing[*]}. As root run: ${by_hand#sudo }"
    fi
    echo "Installing missing packages: ${missing[*]}"
    local log
    log=$(mktemp)
    if ! as_root env DEBIAN_FRONTEND=noninteractive apt-get update -q >"$log" 2>&1 \
        || ! as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}" >>"$log" 2>&1; then
        tail -n 15 "$log" >&2
        rm -f "$log"
        fail "the packages could not be installed. Try by hand: $by_hand"
    fi
    rm -f "$log"
    # Debian starts servers as soon as they are installed; the tests start their own, on free ports.
    [ -d /run/systemd/system ] && command -v systemctl >/dev/null || return 0
    for package in "${missing[@]}"; do
        case $package in
            nginx-light) switch_off nginx ;;
            squid-openssl) switch_off squid ;;
            haproxy) switch_off haproxy ;;
            krb5-kdc | krb5-admin-server) switch_off "$package" ;;
        esac
    done
}

switch_off() {
    as_root systemctl disable --quiet --now "$1" >/dev/null 2>&1 || true
    echo "The service $1 that came with its package was switched off: the tests start their own."
}
