package import FoundationEssentials

/// JSON as servers send it: an array of records with numbers, texts, escapes and a nested object.
package enum JSONSample {
    /// The sizes that are measured, in bytes.
    package static let sizes = [1 << 10, 100 << 10, 10 << 20]

    /// A text of at least this size.
    package static func text(ofSize size: Int) -> Data {
        var text = "["
        text.reserveCapacity(size + 256)
        var number = 0
        while text.utf8.count < size {
            if number > 0 { text += "," }
            text += """
                {"id":\(number),"name":"User \(number)","email":"user\(number)@example.com","score":\(number).25,\
                "active":\(number % 2 == 0),"note":"a \\"quoted\\" line\\n","tags":["a","b","c"],\
                "address":{"street":"Main Street \(number)","city":"Zürich","zip":null}}
                """
            number += 1
        }
        return Data((text + "]").utf8)
    }
}
