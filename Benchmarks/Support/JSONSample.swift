package import FoundationEssentials

/// JSON of the kinds that servers send, each in any size.
package enum JSONSample: String, CaseIterable, Sendable {
    /// Records with numbers, texts, escapes and a nested object.
    case records
    /// The same, indented.
    case indented
    /// Objects of forty keys.
    case wide
    /// Pairs of numbers with fractions.
    case coordinates
    /// Whole numbers.
    case integers
    /// Sentences.
    case sentences
    /// Sentences of which half is above ASCII.
    case foreign

    /// The sizes that are measured, in bytes.
    package static let sizes = [1 << 10, 100 << 10, 10 << 20]

    /// An array of at least this size.
    package func text(ofSize size: Int) -> Data {
        var text = "["
        text.reserveCapacity(size + 2048)
        var number = 0
        while text.utf8.count < size {
            if number > 0 { text += "," }
            text += element(number)
            number += 1
        }
        return Data((text + "]").utf8)
    }

    private func element(_ number: Int) -> String {
        switch self {
        case .records:
            """
            {"id":\(number),"name":"User \(number)","email":"user\(number)@example.com","score":\(number).25,\
            "active":\(number % 2 == 0),"note":"a \\"quoted\\" line\\n","tags":["a","b","c"],\
            "address":{"street":"Main Street \(number)","city":"Zürich","zip":null}}
            """
        case .indented:
            """

                {
                    "id": \(number),
                    "name": "User \(number)",
                    "tags": [
                        "a",
                        "b"
                    ]
                }
            """
        case .wide:
            "{" + (0..<40).map { "\"field_number_\($0)\":\($0 * number)" }.joined(separator: ",") + "}"
        case .coordinates:
            "[\(Double(number % 36_000) * 0.0123457),\(Double(number % 18_000) * 0.0076543)]"
        case .integers:
            "\(number &* 7919 % 1_000_003)"
        case .sentences:
            "\"The quick brown fox number \(number) jumps over the lazy dog and runs away\""
        case .foreign:
            "\"Über den Wolken 流体 и вода \(number) 😀\""
        }
    }
}

/// What the records are read into where types are.
package struct JSONRecord: Codable, Sendable {
    /// The nested object.
    package struct Address: Codable, Sendable {
        let street: String
        let city: String
        let zip: String?
    }

    let id: Int
    let name: String
    let email: String
    let score: Double
    let active: Bool
    let note: String
    let tags: [String]
    let address: Address
}
