# Sourced by scripts/check: compiles the files to copy in Bridges against declarations that stand for other packages.

check_bridges() {
    local work=.build/bridges binaries options=() module
    binaries=$(swift build --show-bin-path)
    swift build --target NetManager
    rm -rf "$work"
    mkdir -p "$work"
    for module in Sources/C*/module.modulemap; do options+=(-I "${module%/*}"); done
    for module in "$binaries"/C*.build/module.modulemap; do options+=(-Xcc "-fmodule-map-file=$module"); done
    for module in Logging Metrics Tracing ServiceLifecycle; do
        swiftc -swift-version 6 -parse-as-library -emit-module -module-name "$module" \
            -emit-module-path "$work/$module.swiftmodule" "Tests/BridgeStubs/$module.swift"
        swiftc -swift-version 6 -parse-as-library -warnings-as-errors -typecheck -module-name Bridge -I "$work" \
            -I "$binaries/Modules" "${options[@]}" "Bridges/${module}Bridge.swift"
    done
}
