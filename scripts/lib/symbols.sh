# Sourced by scripts/api and scripts/docs: the symbol graphs of built modules.

# Every module that others import, in the order in which they depend on one another.
readonly library_modules=(HTTPMessage SecurityPolicy Serializers NetManager NetManagerFoundation Reachability)

# extract_symbol_graphs FOLDER MODULE…: the public symbols of modules that have been built, in about a second;
# 'swift package dump-symbol-graph' does the same, and builds and reads every target, tests too.
extract_symbol_graphs() {
    local folder=$1 module binaries target options=()
    shift
    binaries=$(swift build --show-bin-path)
    target=$(swift -print-target-info | sed -n 's/^ *"unversionedTriple": "\(.*\)",$/\1/p')
    for module in Sources/C*/module.modulemap; do options+=(-I "${module%/*}"); done
    for module in "$binaries"/C*.build/module.modulemap; do options+=(-Xcc "-fmodule-map-file=$module"); done
    rm -rf "$folder"
    mkdir -p "$folder"
    for module in "$@"; do
        swift-symbolgraph-extract -module-name "$module" -I "$binaries/Modules" "${options[@]}" -target "$target" \
            -minimum-access-level public -skip-synthesized-members -output-dir "$folder" \
            || fail "no symbol graph of $module"
    done
}
