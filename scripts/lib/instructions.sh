# shellcheck shell=bash
# Sourced by scripts/guard: counts the instructions of BenchmarkGuard's pieces of work under callgrind.

# What one run of callgrind may take; it takes some seconds.
readonly callgrind_limit=120

# count_instructions PROGRAM URL: prints the version of Swift as a comment and a line NAME COUNT for each piece.
count_instructions() {
    local program=$1 url=$2 piece
    swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9.]*[0-9]\).*/# Swift \1/p' | head -n 1
    # valgrind 3.19 gives up on the debugging information that Swift writes, and needs none of it.
    strip --strip-debug -o "$work/stripped" "$program"
    # Few and many are as far apart as keeps starting up and its chances out of the difference.
    for piece in get-await:400:1200 get-closure-16:400:1200 evaluate-pinned:10:40; do
        count_piece "$url" "${piece%%:*}" $(tr : ' ' <<<"${piece#*:}")
    done
}

# count_piece URL NAME FEW MANY: the lower of two rounds.
count_piece() {
    local url=$1 name=$2 few=$3 many=$4 round least=""
    for round in 1 2; do
        local first second
        first=$(count_run "$url" "$name" "$few") && second=$(count_run "$url" "$name" "$many")
        least=$(awk -v a="$first" -v b="$second" -v n=$((many - few)) -v least="$least" \
            'BEGIN { one = (b - a) / n; printf "%.1f", least == "" || one < least ? one : least }')
    done
    echo "$name $least"
}

# count_run URL NAME TIMES: the instructions of a whole run, those of the program and of Swift's libraries.
count_run() {
    # Hash tables with the same seed in every run meet the same collisions. fair-sched hands the lock of the one thread
    # that runs at a time over in turn, not to whoever is quickest.
    SWIFT_DETERMINISTIC_HASHING=1 timeout "$callgrind_limit" \
        valgrind --tool=callgrind --callgrind-out-file="$work/callgrind" --fair-sched=yes \
        "$work/stripped" "$@" >"$work/log" 2>&1 || { tail -n 20 "$work/log" >&2; fail "callgrind failed"; }
    # Costs stand below the object that they belong to ("ob="), names are given once and then by number. The line
    # after "calls=" is what the called function took, which stands at that function already.
    awk '
        function name(text,   id, rest) {
            id = text
            sub(/\).*/, ")", id)
            rest = substr(text, length(id) + 2)
            if (rest != "") names[id] = rest
            return names[id]
        }
        /^ob=/ { isOwn = name(substr($0, 4)) ~ /\/(stripped|libswift[^\/]*|libFoundation[^\/]*|libdispatch[^\/]*)$/; next }
        /^cob=/ { name(substr($0, 5)); next }
        /^calls=/ { isCall = 1; next }
        /^[0-9+*-]/ { if (isOwn && !isCall) sum += $NF; isCall = 0 }
        END { if (sum == 0) exit 1; printf "%d\n", sum }' "$work/callgrind" || fail "callgrind wrote nothing to be read"
}
