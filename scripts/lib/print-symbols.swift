// print-symbols FOLDER MODULE: prints the public symbols of one module out of the symbol graphs in a folder, sorted:
// text that a person can read in a difference.
import Foundation

private struct Graph: Decodable {
    struct Symbol: Decodable {
        struct Fragment: Decodable { var spelling: String }
        var pathComponents: [String]
        var declarationFragments: [Fragment]?
        var identifier: Identifier
        struct Identifier: Decodable { var precise: String }
    }
    struct Relationship: Decodable {
        var kind: String
        var source: String
        var target: String
        var targetFallback: String?
    }
    var symbols: [Symbol]
    var relationships: [Relationship]
}

@main
private struct PrintSymbols {
    static func main() throws {
        let folder = CommandLine.arguments[1]
        let module = CommandLine.arguments[2]
        var lines: Set<String> = []
        // The module's own symbols, then what it adds to the types of other modules.
        let files = try FileManager.default.contentsOfDirectory(atPath: folder)
            .filter { $0.hasPrefix(module + "@") && $0.hasSuffix(".symbols.json") }
        for file in [module + ".symbols.json"] + files {
            let data = try Data(contentsOf: URL(fileURLWithPath: folder + "/" + file))
            let graph = try JSONDecoder().decode(Graph.self, from: data)
            var names: [String: String] = [:]
            for symbol in graph.symbols {
                let path = symbol.pathComponents.joined(separator: ".")
                names[symbol.identifier.precise] = path
                let declaration = (symbol.declarationFragments ?? []).map(\.spelling).joined()
                    .split(whereSeparator: \.isWhitespace).joined(separator: " ")
                lines.insert("\(path)\n    \(declaration)")
            }
            for relationship in graph.relationships where relationship.kind == "conformsTo" {
                guard let source = names[relationship.source] else { continue }
                let target = names[relationship.target] ?? relationship.targetFallback ?? relationship.target
                lines.insert("\(source): \(target)")
            }
        }
        print(lines.sorted().joined(separator: "\n"))
    }
}
