import FoundationEssentials

/// Base64 over several lines, decoded.
func decoded(_ text: String) -> [UInt8] {
    guard let data = Data(base64Encoded: text, options: .ignoreUnknownCharacters) else {
        preconditionFailure("the base is no base64")
    }
    return Array(data)
}

/// DER as a PEM block under this label.
func armored(_ label: String, _ bytes: [UInt8]) -> [UInt8] {
    let lines = Data(bytes).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
    return Array("-----BEGIN \(label)-----\n\(lines)\n-----END \(label)-----\n".utf8)
}
