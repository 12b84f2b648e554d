# Sourced by scripts/check and scripts/docs: the Swift code of the documentation's articles.

# check_articles: every block of Swift in an article compiles, each as a function of its own.
check_articles() {
    local work=.build/articles binaries options=() module
    swift build --target NetManager
    binaries=$(swift build --show-bin-path)
    rm -rf "$work"
    mkdir -p "$work"
    # Imports go to the top of a file; the rest is the body of a function that may wait and throw.
    awk -v work="$work" '
        /^```swift$/ { count++; file = sprintf("%s/Block%03d.swift", work, count); inside = 1; imports = ""; body = ""; place = FILENAME ":" FNR; next }
        /^```$/ && inside {
            inside = 0
            printf "// %s\n%s\nfunc block%03d() async throws {\n%s}\n", place, imports, count, body > file
            close(file)
            next
        }
        inside && /^import / { imports = imports $0 "\n"; next }
        inside { body = body "    " $0 "\n" }
        END { if (count == 0) { print "the articles have no code"; exit 1 } }' Sources/*/*.docc/*.md
    for module in Sources/C*/module.modulemap; do options+=(-I "${module%/*}"); done
    for module in "$binaries"/C*.build/module.modulemap; do options+=(-Xcc "-fmodule-map-file=$module"); done
    swiftc -swift-version 6 -parse-as-library -typecheck -module-name Articles -I "$binaries/Modules" "${options[@]}" \
        "$work"/*.swift
}
