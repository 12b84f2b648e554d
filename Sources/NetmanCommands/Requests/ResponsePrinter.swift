import FoundationEssentials
import NetManager

/// Prints a response: for people on a terminal, as bytes everywhere else.
struct ResponsePrinter {
    var console: Console
    /// Whether the head is printed too.
    var showsHead: Bool
    /// Whether the body is printed.
    var showsBody = true

    /// The most bytes of a body that are read for a terminal: 16 MiB; a larger one is an error.
    static let largestShown = 16 << 20

    /// Prints the head.
    func print(_ head: HTTPResponse.Head) {
        guard showsHead else { return }
        let output = console.output
        let status = "\(head.version.rawValue) \(head.status)"
        console.print(head.status < 400 ? Style.green(status, on: output) : Style.red(status, on: output))
        for field in head.headers {
            console.print(Style.cyan(field.name, on: output) + ": " + Printable.text(field.value))
        }
        console.print()
    }

    /// Prints a body whole, JSON laid out.
    func print(_ body: Data, _ head: HTTPResponse.Head) {
        guard showsBody, !body.isEmpty else { return }
        let isJSON = head.mediaType.map { $0.subtype == "json" || $0.subtype.hasSuffix("+json") } ?? false
        if isJSON, let value = try? JSONValue(parsing: body),
            let text = try? value.data([.prettyPrinted, .sortedKeys])
        {
            return console.print(Printable.text(String(decoding: text, as: UTF8.self)))
        }
        guard let text = String(validating: body, as: UTF8.self), !text.utf8.contains(0) else {
            return console.print("(\(body.count) bytes that are no text; send them to a file to have them)")
        }
        console.print(Printable.text(text))
    }
}
