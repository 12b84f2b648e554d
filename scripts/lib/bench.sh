# Sourced by scripts/bench: servers, programs in turns, the table.

# Takes the CPU away from nobody for longer than this, whatever hangs.
readonly run_limit=60

# build_benchmarks PRODUCT…
build_benchmarks() {
    echo "Building for release (the first time takes some minutes)"
    local product
    for product in "$@"; do
        swift build -c release --product "$product" >.build/bench.log 2>&1 || { show_failure .build/bench.log >&2; exit 1; }
    done
    programs=$(swift build -c release --show-bin-path)
}

# A root, an intermediate and a server's certificate, of keys as they are usual (P-256).
make_certificates() {
    root=$work/root.pem
    (
        cd "$work"
        openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -subj "/CN=Benchmark root" \
            -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign \
            -keyout root.key -out root.pem
        issue ca "/CN=Benchmark intermediate" root "basicConstraints=critical,CA:TRUE" "keyUsage=critical,keyCertSign"
        issue server "/CN=localhost" ca "basicConstraints=CA:FALSE" "subjectAltName=DNS:localhost,DNS:*.h.localhost" \
            "extendedKeyUsage=serverAuth" "keyUsage=digitalSignature"
        cat server.pem ca.pem >chain.pem
        cat server.pem ca.pem root.pem >all.pem
    ) 2>"$work/openssl.log" || { cat "$work/openssl.log" >&2; exit 1; }
}

# issue NAME SUBJECT ISSUER EXTENSION…
issue() {
    local name=$1 subject=$2 issuer=$3
    shift 3
    printf '%s\n' "$@" authorityKeyIdentifier=keyid subjectKeyIdentifier=hash >"$name.ext"
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "$subject" -keyout "$name.key" -out "$name.csr"
    openssl x509 -req -in "$name.csr" -CA "$issuer.pem" -CAkey "$issuer.key" -CAcreateserial -days 30 \
        -extfile "$name.ext" -out "$name.pem"
}

# Finds a port that nobody listens on; nginx itself cannot be asked for one.
free_port() {
    local port
    while :; do
        port=$((20000 + RANDOM % 12000))
        [[ " ${taken_ports:-} " != *" $port "* ]] || continue
        if ! (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
            taken_ports="${taken_ports:-} $port"
            chosen_port=$port
            return
        fi
    done
}

listener() { # PORT-DIRECTIVES SERVER-DIRECTIVES
    printf 'server { listen 127.0.0.1:%s; server_name localhost *.h.localhost; root %s/root; ' "$1" "$work"
    printf 'ssl_certificate %s/chain.pem; ssl_certificate_key %s/server.key; %s ' "$work" "$work" "$2"
    printf 'location = /small { default_type application/json; return 200 %s; } }\n' "'$(small_body)'"
}

# 200 bytes of JSON.
small_body() {
    printf '{"id":1,"name":"Ada Lovelace","email":"ada@example.com","tags":["a","b","c"],"note":"%0106d"}' 0
}

start_servers() {
    # Core 0 serves, core 1 asks; on a machine of one core nothing is pinned.
    server_core=() client_core=()
    if [ "$(nproc)" -gt 1 ] && command -v taskset >/dev/null; then
        server_core=(taskset -c 0) client_core=(taskset -c 1)
    fi
    mkdir -p "$work/root"
    truncate -s 256M "$work/root/big"
    chmod -R a+rX "$work"
    mkfifo "$work/peer.in" "$work/peer.out"
    "${server_core[@]}" "$programs/BenchmarkPeer" 2000 <"$work/peer.in" >"$work/peer.out" &
    peer_pid=$!
    # The server ends when this end of its input is closed, also when this script is killed.
    exec 8>"$work/peer.in"
    local peer_port
    read -r peer_port <"$work/peer.out"
    peer=http://127.0.0.1:$peer_port
    local ports=() index
    for index in 0 1 2 3 4 5 6; do
        free_port
        ports+=("$chosen_port")
    done
    write_server_configuration >"$work/nginx.conf"
    "${server_core[@]}" nginx -p "$work" -c "$work/nginx.conf" -e "$work/error.log" &
    nginx_pid=$!
    http=http://127.0.0.1:${ports[0]} https1=https://localhost:${ports[1]} https2=https://localhost:${ports[2]}
    fresh=https://localhost:${ports[3]} resumed=https://localhost:${ports[4]}
    # Of many hosts; the benchmarks put one's number, or a part of its address, in the place of the braces.
    hosts_http=http://127.0.{ip}:${ports[5]} hosts_https=https://{n}.h.localhost:${ports[6]}
    local tries=0
    until (exec 3<>"/dev/tcp/127.0.0.1/${ports[0]}") 2>/dev/null; do
        tries=$((tries + 1))
        [ $tries -lt 100 ] || { cat "$work/error.log" >&2; fail "nginx did not start"; }
        sleep 0.05
    done
}

write_server_configuration() {
    local user="" descriptors
    [ "$(id -u)" != 0 ] || user="user root;"
    descriptors=$(ulimit -Hn)
    [ "$descriptors" != unlimited ] && [ "$descriptors" -lt 65536 ] || descriptors=65536
    echo "daemon off; worker_processes 1; $user pid $work/nginx.pid; error_log $work/error.log warn;"
    echo "worker_rlimit_nofile $descriptors; events { worker_connections $descriptors; }"
    echo "http { access_log off; sendfile on; keepalive_requests 100000000; keepalive_timeout 300;"
    echo "http2_max_concurrent_streams 4096; ssl_protocols TLSv1.2 TLSv1.3;"
    local area
    for area in client_body proxy fastcgi uwsgi scgi; do echo "${area}_temp_path $work/$area;"; done
    listener "${ports[0]} backlog=4096" ""
    listener "${ports[1]} ssl" ""
    listener "${ports[2]} ssl http2 backlog=4096" "location = /wait { proxy_pass $peer; }"
    listener "${ports[3]} ssl" "keepalive_timeout 0; ssl_session_tickets off; ssl_session_cache off;"
    listener "${ports[4]} ssl" "keepalive_timeout 0; ssl_session_tickets on; ssl_session_cache shared:s:1m;"
    listener "${ports[5]}" "$(many_hosts "${ports[5]}")"
    listener "${ports[6]} ssl" ""
    echo "}"
}

# many_hosts PORT: the addresses that the curves ask, 127.0.1.1 and so on.
many_hosts() {
    [ $curves = 1 ] || return 0
    local host
    for ((host = 0; host < 1050; host++)); do
        printf 'listen 127.0.%d.%d:%s; ' $((1 + host / 250)) $((1 + host % 250)) "$1"
    done
}

stop_servers() {
    [ -z "${nginx_pid:-}" ] || kill "$nginx_pid" 2>/dev/null || true
    [ -z "${peer_pid:-}" ] || kill "$peer_pid" 2>/dev/null || true
    wait
    rm -rf "$work"
}

# run_one ROW PROGRAM ARGUMENT…: runs a program and notes its line of JSON.
run_one() {
    local name=$1 program=$2 line
    shift 2
    line=$("${client_core[@]}" timeout "$run_limit" "$programs/$program" "$@" 2>&1 | tail -n 1) || true
    case $line in
        '{'*) echo "{\"row\":\"$name\",${line#\{}" >>"$work/results" ;;
        *) echo "# $name $program $1: ${line:-no output}" >&2 ;;
    esac
}

# row NAME WORKLOAD URL COUNT IN-FLIGHT WARM-UP ROOT STYLES: all programs in turns.
row() {
    local name=$1 workload=$2 url=$3 count=$4 in_flight=$5 warm_up=$6 trusted=$7 styles=$8
    [[ $name == "$only"* ]] || return 0
    local turn style
    for ((turn = 0; turn < runs; turn++)); do
        for style in poll epoll; do
            run_one "$name" BenchmarkFloor $style "$workload" "$url" "$count" "$in_flight" "$warm_up" "$trusted"
        done
        for style in $styles; do
            run_one "$name" BenchmarkClient "$style" "$workload" "$url" "$count" "$in_flight" "$warm_up" "$trusted"
        done
        # Once is enough to see ten times; over TLS it cannot be told which root to trust.
        [ $turn = 0 ] && [ -z "$trusted" ] || continue
        [ "$workload" != get ] || { count=$((count / 8)) && warm_up=$((warm_up / 8)); }
        run_one "$name" BenchmarkFoundation async "$workload" "$url" "$count" "$in_flight" "$warm_up" "$trusted"
        count=$4 warm_up=$6
    done
}

print_table() {
    [ -z "$json" ] || cp "$work/results" "$json"
    awk '
        function field(name,   at, rest) {
            at = index($0, "\"" name "\":")
            rest = substr($0, at + length(name) + 3)
            sub(/[,}].*/, "", rest)
            gsub(/"/, "", rest)
            return rest
        }
        function median(key,   n, i, j, t, v) {
            n = split(values[key], v, " ")
            for (i = 2; i <= n; i++) for (j = i; j > 1 && v[j] + 0 < v[j - 1] + 0; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
            least = v[1]; most = v[n]
            return n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
        }
        # KiB for each request that waits, each idle connection, each policy with its connections.
        function memory_each(row) {
            # The floor makes its handles before it starts, the clients with the requests.
            if (row ~ /^wait/) return sprintf("%.1f", (field("peak_rss_kib") - field(client ~ /^floor/ ? "base_rss_kib" : "start_rss_kib")) / field("requests"))
            if (row ~ /^idle/) return sprintf("%.1f", (field("end_rss_kib") - field("start_rss_kib")) / field("requests"))
            # What one more takes: the first has all that is there once, and its 64 connections.
            if (row == "policies-1") first[client] = field("start_rss_kib")
            if (row ~ /^policies-...+/) return sprintf("%.1f", (field("start_rss_kib") - first[client]) / (substr(row, 10) - 1))
            return "-"
        }
        {
            row = field("row"); client = field("client"); key = row SUBSEP client
            if (!(row in seenrow)) { seenrow[row] = 1; rows[++rowcount] = row }
            if (!(key in values)) clients[row] = clients[row] " " client
            values[key] = values[key] " " field("cpu_us")
            errors[key] += field("errors")
            wall[key] = field("wall_s")
            peak[key] = field("peak_rss_kib")
            each[key] = memory_each(row)
            threads[key] = field("threads")
        }
        END {
            printf "%-13s %-22s %28s %7s %8s %9s %9s %8s %s\n", "row", "client", "CPU µs/request [min max]", "ratio", "wall s", "peak MiB", "KiB each", "threads", "errors"
            for (r = 1; r <= rowcount; r++) {
                row = rows[r]
                floor = 0
                n = split(clients[row], list, " ")
                for (i = 1; i <= n; i++) if (list[i] ~ /^floor/) {
                    m = median(row SUBSEP list[i])
                    if (floor == 0 || m < floor) floor = m
                }
                for (i = 1; i <= n; i++) {
                    key = row SUBSEP list[i]
                    m = median(key)
                    printf "%-13s %-22s %28s %7s %8s %9.1f %9s %8d %d\n", i == 1 ? row : "", list[i], sprintf("%.1f [%.1f %.1f]", m, least, most), floor ? sprintf("%.2f", m / floor) : "-", wall[key], peak[key] / 1024, each[key], threads[key], errors[key]
                }
            }
        }' "$work/results"
}

run_micro() {
    "$programs/BenchmarkMicro" "$work/all.pem" | tee "$work/results"
    "$programs/BenchmarkFoundation" json | tee -a "$work/results"
    [ -z "$json" ] || cp "$work/results" "$json"
    print_micro_ratios
}

# How much longer the other library takes, for what both were measured at.
print_micro_ratios() {
    awk -F '[",:{}]+' '
        { for (i = 2; i < NF; i += 2) value[$i] = $(i + 1); key = value["micro"] SUBSEP value["size"] }
        value["by"] == "netmanager" { own[key] = value["cpu_ns"] }
        value["by"] != "netmanager" && own[key] > 0 {
            printf "%-24s %9d bytes %9.1f µs, %s takes %.1f times as long\n",
                value["micro"], value["size"], own[key] / 1000, value["by"], value["cpu_ns"] / own[key]
        }' "$work/results"
}
