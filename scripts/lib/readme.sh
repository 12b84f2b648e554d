# Sourced by scripts/check: turns the Swift blocks of a README into a package that can be compiled.

# write_readme_package README FOLDER: makes FOLDER/MyServer.
# - The block that begins with "// swift-tools-version" is its manifest, word by word; it finds this package as
#   ../NetManager, a link to this checkout.
# - A block that imports Testing becomes a file of its test target as it stands.
# - Any other block becomes a file of the executable target: its imports first, the rest inside of an
#   asynchronous function.
write_readme_package() {
    local readme=$1 folder=$2
    local sources=$folder/MyServer/Sources/MyServer tests=$folder/MyServer/Tests/MyServerTests
    rm -rf "$folder/MyServer/Sources" "$folder/MyServer/Tests" "$folder/MyServer/Package.swift"
    mkdir -p "$sources" "$tests"
    ln -sfn "$PWD" "$folder/NetManager"
    awk -v manifest="$folder/MyServer/Package.swift" -v sources="$sources" -v tests="$tests" '
        function finish(    file, i, rest) {
            if (kind == "manifest") file = manifest
            else if (kind == "test") file = tests "/Block" count ".swift"
            else file = sources "/Block" count ".swift"
            if (kind != "code") {
                for (i = 1; i <= lines; i++) print block[i] > file
            } else {
                rest = ""
                for (i = 1; i <= lines; i++)
                    if (block[i] ~ /^import /) print block[i] > file
                    else rest = rest "    " block[i] "\n"
                printf "func readmeBlock%d() async throws {\n%s}\n", count, rest > file
            }
            close(file)
        }
        /^```swift$/ { inside = 1; lines = 0; kind = "code"; count++; next }
        /^```/ && inside { finish(); inside = 0; next }
        inside {
            block[++lines] = $0
            if ($0 ~ /^\/\/ swift-tools-version/) kind = "manifest"
            if ($0 ~ /^import Testing/) kind = "test"
        }
        END {
            if (inside) { print "a ```swift block is not closed"; exit 1 }
            if (count < 2) { print "found no ```swift blocks"; exit 1 }
        }' "$readme"
    [ -f "$folder/MyServer/Package.swift" ] || {
        echo "no block of $readme begins with // swift-tools-version"
        return 1
    }
    printf '@main struct MyServer { static func main() {} }\n' >"$sources/MyServer.swift"
}
