import FoundationEssentials
import SecurityPolicy
import Serializers

/// The forms in which pins are printed.
struct PinsOutput {
    enum Format: String, CaseIterable {
        case table, sha256, curl, swift, json
    }

    /// The file, or host and port.
    var source: String
    var certificates: [Certificate]
    /// What this system thinks of a live server; nil for a file.
    var verdict: String?

    func print(as format: Format, on console: Console) {
        switch format {
        case .table: printTable(on: console)
        case .sha256: for certificate in certificates { console.print("\(certificate.publicKeyPin)") }
        case .curl:
            for certificate in certificates { console.print("sha256//\(certificate.publicKeyPin.base64)") }
            if certificates.count > 1 { console.note("curl compares the first one only, the server's own.") }
        case .swift: printSwift(on: console)
        case .json: console.print("\(String(decoding: json(), as: UTF8.self))")
        }
    }

    // MARK: Table

    private func printTable(on console: Console) {
        let count = certificates.count == 1 ? "1 certificate" : "\(certificates.count) certificates"
        console.print(
            Style.bold(source, on: console.output) + ": \(count)" + (verdict.map { ", \($0)" } ?? "")
        )
        console.print()
        for line in table(width: console.output.width) {
            console.print(line.isHead ? Style.dim(line.text, on: console.output) : line.text)
        }
    }

    /// The table, in which only subject and issuer are shortened when there is a width to keep to.
    func table(width: Int?) -> [(isHead: Bool, text: String)] {
        var rows = [["#", "SUBJECT", "ISSUER", "EXPIRES", "KEY"]]
        for (position, certificate) in certificates.enumerated() {
            rows.append([
                "\(position)", Printable.text(certificate.subject), Printable.text(certificate.issuer),
                String(certificate.notAfter.formatted(.iso8601).prefix(10)), certificate.keyDescription,
            ])
        }
        var widths = (0..<5).map { column in rows.map { $0[column].count }.max() ?? 0 }
        if let width {
            // Four gaps of two blanks each.
            let free = max(16, width - 8 - widths[0] - widths[3] - widths[4])
            if widths[1] + widths[2] > free {
                let subject = min(widths[1], max(free / 2, free - widths[2]))
                widths[1] = subject
                widths[2] = min(widths[2], free - subject)
            }
        }
        var lines: [(Bool, String)] = []
        for (index, row) in rows.enumerated() {
            let cells = zip(row, widths).map { text, width in Self.fitted(text, width) }
            var text = cells.joined(separator: "  ")
            while text.hasSuffix(" ") { text.removeLast() }
            lines.append((index == 0, text))
            if index > 0 {
                let indent = String(repeating: " ", count: widths[0] + 2)
                lines.append((false, indent + "\(certificates[index - 1].publicKeyPin)"))
            }
        }
        return lines
    }

    private static func fitted(_ text: String, _ width: Int) -> String {
        if text.count > width { return text.prefix(max(0, width - 1)) + "…" }
        return text + String(repeating: " ", count: width - text.count)
    }

    // MARK: To paste

    private func printSwift(on console: Console) {
        console.print("let pins = Set(")
        console.print("    [")
        for (position, certificate) in certificates.enumerated() {
            let day = certificate.notAfter.formatted(.iso8601).prefix(10)
            // The subject comes from elsewhere: a line break in it would end the comment.
            let subject = Printable.text(certificate.subject).split(separator: "\n").joined(separator: " ")
            console.print("        // \(position): \(subject), until \(day)")
            console.print("        PublicKeyPin(\"\(certificate.publicKeyPin)\"),")
        }
        console.print("    ].compactMap { $0 }")
        console.print(")")
    }

    private func json() -> Data {
        let list = certificates.enumerated().map { position, certificate -> JSONValue in
            [
                "position": JSONValue(position),
                "subject": JSONValue(certificate.subject),
                "issuer": JSONValue(certificate.issuer),
                "notBefore": JSONValue(certificate.notBefore.formatted(.iso8601)),
                "notAfter": JSONValue(certificate.notAfter.formatted(.iso8601)),
                "key": JSONValue(certificate.keyDescription),
                "pin": JSONValue("\(certificate.publicKeyPin)"),
                "fingerprint": JSONValue(certificate.fingerprint.map { Self.hexadecimal($0) }.joined()),
            ]
        }
        var object: [String: JSONValue] = ["source": JSONValue(source), "certificates": .array(list)]
        if let verdict { object["system"] = JSONValue(verdict) }
        return (try? JSONValue(object).data([.sortedKeys, .prettyPrinted])) ?? Data()
    }

    private static func hexadecimal(_ byte: UInt8) -> String {
        (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
}

extension PublicKeyPin {
    /// The digest alone, in base64.
    var base64: String { digest.base64EncodedString() }
}
