# shellcheck shell=bash
# Sourced by scripts/bench: what a request costs over the requests in flight, the hosts and the policies, and what a
# connection that waits for the next request takes.

# point NAME CLIENTS URL COUNT IN-FLIGHT WARM-UP ROOT HOSTS POLICIES [LOOPS]: one point of a curve, all programs in turns.
# Hosts of 0 mean that the URL is that of the only one. The floor has one loop always.
point() {
    local name=$1 clients=$2 url=$3 count=$4 in_flight=$5 warm_up=$6 trusted=$7 hosts=$8 policies=$9 loops=${10:-1}
    [[ $name == "$only"* ]] || return 0
    local turn client
    for ((turn = 0; turn < runs; turn++)); do
        for client in $clients; do
            case $client in
                poll | epoll)
                    run_one "$name" BenchmarkFloor "$client" get "$url" "$count" "$in_flight" "$warm_up" "$trusted" \
                        "$hosts"
                    ;;
                *)
                    run_one "$name" BenchmarkClient "$client" get "$url" "$count" "$in_flight" "$warm_up" "$trusted" \
                        "$hosts" "$policies" "$loops"
                    ;;
            esac
        done
    done
}

run_curves() {
    local n clients count
    # Every open connection is a descriptor, here and at the server.
    ulimit -n "$(ulimit -Hn)" 2>/dev/null || true
    for n in 1 4 16 64 256 1000 4000 10000; do
        if [ "$(ulimit -n)" != unlimited ] && [ "$(ulimit -n)" -lt $((n + 200)) ]; then
            echo "# flight-$n: only $(ulimit -n) descriptors are allowed" >&2
            continue
        fi
        # With so many, polling is far from being the better floor and takes minutes.
        clients="poll epoll async closure"
        [ "$n" -le 1000 ] || clients="epoll async closure"
        count=$((n * 4 > 8000 ? n * 4 : 8000))
        [ "$n" -gt 4 ] || count=4000
        point "flight-$n" "$clients" "$http/small" "$count" "$n" $((n * 2 > 1000 ? n * 2 : 1000)) "" 0 1
    done
    for n in 1 10 100 1000; do
        point "hosts-$n" "poll epoll async closure" "$hosts_http/small" 8000 64 2000 "" "$n" 1
    done
    # The same as a hundred hosts by one loop; on the one core that the client has, they can only cost more.
    point loops-4 "poll epoll async closure" "$hosts_http/small" 8000 64 2000 "" 100 1 4
    # Every request is to another host than all before, so it leaves a connection that nobody uses.
    point idle-http "epoll async" "$hosts_http/small" 1000 1 50 "" 1050 1
    point idle-tls "epoll async" "$hosts_https/small" 1000 1 50 "$root" 1050 1
    # A policy for each host, as many hosts for the floor, which has no policies; then all policies for the same host.
    for n in 1 10 1000; do
        point "policies-$n" "poll epoll async closure" "$hosts_https/small" 8000 64 2000 "$root" "$n" "$n"
    done
    point one-host-10 "async closure" "$hosts_https/small" 8000 64 2000 "$root" 1 10
    point one-host-1000 "async closure" "$hosts_https/small" 8000 64 2000 "$root" 1 1000
}
