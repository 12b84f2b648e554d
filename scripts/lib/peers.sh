# shellcheck shell=bash
# Real programs to test against, beyond the packages that every test run needs; read by the scripts that run tests.
# For each NAME of this list there is a function install_NAME: it installs the program where it is missing, names it
# for the tests in a variable, and ends with an error when it cannot.
readonly peers=(gunicorn interceptor http2 squid socks haproxy kerberos)

# install_peers wanted | required: makes every peer ready that can be had here. Without one its tests are skipped, or
# nothing goes on when it is required.
install_peers() {
    local peer log status
    log=$(mktemp)
    for peer in "${peers[@]}"; do
        # A subshell with its own -e, so that the first step that fails ends it: inside of 'if' the option would be off.
        set +e
        (set -e; "install_$peer") >"$log" 2>&1
        status=$?
        set -e
        if [ $status = 0 ]; then
            # What is there already is only named.
            "install_$peer"
            continue
        fi
        tail -n 5 "$log" >&2
        if [ "$1" = required ]; then
            rm -f "$log"
            fail "the peer '$peer' cannot be installed here"
        fi
        echo "The peer '$peer' cannot be installed here: the tests against it are skipped" >&2
    done
    rm -f "$log"
}

# Installs gunicorn, a server, with httpbin, an application that echoes, and names it for the tests (GUNICORN).
# The versions are fixed: what they answer is part of a test.
install_gunicorn() {
    local folder=$PWD/.build/peers/httpbin-0.10.4
    if [[ ! -x $folder/bin/gunicorn ]]; then
        python3 -c 'import ensurepip' 2>/dev/null || require_packages python3-venv
        rm -rf "$folder"
        python3 -m venv "$folder"
        "$folder/bin/pip" install --quiet --disable-pip-version-check \
            httpbin==0.10.4 gunicorn==27.0.1 flask==3.1.3 werkzeug==3.1.9 brotlicffi==1.2.1.0
    fi
    export GUNICORN=$folder/bin/gunicorn
}

# Installs mitmproxy, an interceptor, into .build/peers and names it for the tests (INTERCEPTOR).
# The version is fixed: what it prints is part of a test.
install_interceptor() {
    local folder=$PWD/.build/peers/mitmproxy-11.0.2
    if [[ ! -x $folder/bin/mitmdump ]]; then
        python3 -c 'import ensurepip' 2>/dev/null || require_packages python3-venv
        rm -rf "$folder"
        python3 -m venv "$folder"
        "$folder/bin/pip" install --quiet --disable-pip-version-check mitmproxy==11.0.2
    fi
    export INTERCEPTOR=$folder/bin/mitmdump
}

# Installs h2, by which a scripted HTTP/2 server is written, and names its Python for the tests (HTTP2_PEER).
install_http2() {
    local folder=$PWD/.build/peers/h2-4.4.1
    if [[ ! -x $folder/bin/python3 || ! -e $folder/installed ]]; then
        python3 -c 'import ensurepip' 2>/dev/null || require_packages python3-venv
        rm -rf "$folder"
        python3 -m venv "$folder"
        "$folder/bin/pip" install --quiet --disable-pip-version-check h2==4.4.1 hpack==4.2.0 hyperframe==6.1.0
        touch "$folder/installed"
    fi
    export HTTP2_PEER=$folder/bin/python3
}

# Proxies and a load balancer, as Debian has them. microsocks starts no service by itself.
install_squid() { require_packages squid-openssl; }
install_socks() { require_packages microsocks; }
install_haproxy() { require_packages haproxy; }
# A Kerberos realm, and a server that its users log in to. Of Apache the program alone, without the service.
install_kerberos() { require_packages krb5-kdc krb5-admin-server apache2-bin libapache2-mod-auth-gssapi; }
