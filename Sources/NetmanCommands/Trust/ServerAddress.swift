/// A host and a port, as they are given on a command line.
struct ServerAddress: Sendable, Hashable, CustomStringConvertible {
    var host: String
    var port = 443

    /// Reads `HOST`, `HOST:PORT`, `[IPV6]:PORT`, or the host and port of an https URL.
    init(_ text: String) throws(CommandFailure) {
        var rest = text[...]
        if rest.lowercased().hasPrefix("https://") {
            rest = rest.dropFirst(8).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        }
        if rest.hasPrefix("["), let end = rest.firstIndex(of: "]") {
            host = String(rest[rest.index(after: rest.startIndex)..<end])
            rest = rest[rest.index(after: end)...]
            guard rest.isEmpty || rest.hasPrefix(":") else { throw .usage("\(text) is no host") }
            rest = rest.dropFirst()
        } else if rest.filter({ $0 == ":" }).count > 1 {
            // An IPv6 address without a port.
            host = String(rest)
            rest = ""
        } else {
            let parts = rest.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            host = String(parts.first ?? "")
            rest = parts.count > 1 ? parts[1] : ""
            if parts.count > 1, rest.isEmpty { throw .usage("\(text): there is no port behind the colon") }
        }
        let isPlain = host.unicodeScalars.allSatisfy { scalar in
            scalar.isASCII
                && (scalar.properties.isAlphabetic || "0123456789.-_:".unicodeScalars.contains(scalar))
        }
        guard !host.isEmpty, isPlain else {
            throw .usage(
                "\(Printable.text(text)) is neither a file nor a host (international names: xn-- form)"
            )
        }
        guard !rest.isEmpty else { return }
        guard let port = Int(rest), (1...65535).contains(port), rest.allSatisfy("0123456789".contains) else {
            throw .usage("\(Printable.text(text)): the port must be 1 to 65535")
        }
        self.port = port
    }

    init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// The URL of the server's root.
    var url: String { "https://\(self)/" }
}
