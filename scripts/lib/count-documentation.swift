// count-documentation FOLDER MODULE…: prints how many of the public symbols in a folder's symbol graphs are documented,
// and each one that is not; its exit status is 1 if there is one.
import Foundation

private struct Graph: Decodable {
    struct Symbol: Decodable {
        struct Comment: Decodable {}
        var pathComponents: [String]
        var docComment: Comment?
    }
    var symbols: [Symbol]
}

@main
private struct CountDocumentation {
    static func main() throws {
        let folder = CommandLine.arguments[1]
        var missing = 0
        for module in CommandLine.arguments.dropFirst(2) {
            let files = try FileManager.default.contentsOfDirectory(atPath: folder)
                .filter { $0 == module + ".symbols.json" || $0.hasPrefix(module + "@") }
            var count = 0
            var documented = 0
            for file in files {
                let data = try Data(contentsOf: URL(fileURLWithPath: folder + "/" + file))
                for symbol in try JSONDecoder().decode(Graph.self, from: data).symbols {
                    // The projections of property wrappers are the compiler's, and take no comment.
                    if symbol.pathComponents.last?.hasPrefix("$") == true { continue }
                    count += 1
                    if symbol.docComment != nil {
                        documented += 1
                    } else {
                        print("not documented: \(module) \(symbol.pathComponents.joined(separator: "."))")
                    }
                }
            }
            missing += count - documented
            print("\(module): \(documented) of \(count) public symbols are documented")
        }
        exit(missing == 0 ? 0 : 1)
    }
}
