// module: Serializers
// seeds: json-suite
//
// Any parameters: a query must hold safe characters only, fit into a URL, and say what was put in.

import FoundationEssentials
import HTTPMessage
import Serializers

/// A name and a value of any text, or a tree where the bytes are JSON.
private func parameters(in bytes: UnsafeBufferPointer<UInt8>) -> JSONValue {
    if let tree = try? JSONValue(parsing: Data(bytes)), case .object = tree { return tree }
    let middle = bytes.count / 2
    let name = String(decoding: bytes[..<middle], as: UTF8.self)
    return .object([name: .string(String(decoding: bytes[middle...], as: UTF8.self))])
}

private func unescaped(_ text: Substring) -> String {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
        if byte != UInt8(ascii: "%") {
            bytes.append(byte)
        } else {
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            guard digits.utf8.count == 2, let value = UInt8(digits, radix: 16) else {
                preconditionFailure("an escape without two digits")
            }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
    }
    return String(decoding: bytes, as: UTF8.self)
}

private func isSafe(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    default: "-._~/?%&=".utf8.contains(byte)
    }
}

/// Tries one input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzFormQuery(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let tree = parameters(in: UnsafeBufferPointer(start: start, count: count))
    let serializer = FormRequestSerializer()
    guard let query = try? serializer.query(from: tree), let url = URL(string: "http://h/p?x=1#f") else {
        return 0
    }
    precondition(query.utf8.allSatisfy(isSafe), "a character that may not stand in a form")

    var request = HTTPRequest(.get, url: url)
    do { try serializer.serialize(tree, into: &request) } catch { preconditionFailure("\(error)") }
    let expected = query.isEmpty ? "http://h/p?x=1#f" : "http://h/p?x=1&\(query)#f"
    precondition(
        request.url.absoluteString == expected,
        "the URL is not the one that was there and the query"
    )

    if case .object(let members) = tree, members.count == 1,
        case (let name, .string(let value))? = members.first
    {
        let halves = query.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        precondition(halves.count == 2)
        precondition(unescaped(halves[0]) == name && unescaped(halves[1]) == value, "it says something else")
    }
    return 0
}
