# shellcheck shell=bash
# Real programs to test against that no system package holds; read by scripts/test --peers.

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
