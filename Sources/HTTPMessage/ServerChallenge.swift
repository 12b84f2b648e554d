/// One challenge of a `WWW-Authenticate` or `Proxy-Authenticate` field (RFC 9110, section 11.6.1).
package struct ServerChallenge: Sendable, Hashable {
    /// The scheme, in lower case.
    package let scheme: String
    /// The parameters by their names in lower case; the first one of a name counts.
    package let parameters: [String: String]

    /// More of one response are not looked at.
    private static let limit = 32

    /// The challenges of all fields of that name, in order.
    ///
    /// A field may hold many, between commas that also stand between parameters (RFC 9110, section 11.6.1). What cannot
    /// be read ends its field.
    package static func list(_ fields: [String]) -> [ServerChallenge] {
        var list: [ServerChallenge] = []
        for field in fields {
            var reader = ChallengeReader(field)
            while list.count < limit, let challenge = reader.next() { list.append(challenge) }
        }
        return list
    }
}

/// Reads challenges byte by byte.
private struct ChallengeReader {
    private var rest: Substring.UTF8View

    init(_ text: String) {
        rest = Substring(text).utf8
    }

    mutating func next() -> ServerChallenge? {
        skip { $0 == UInt8(ascii: ",") || ChallengeReader.isBlank($0) }
        guard let scheme = token() else { return nil }
        var parameters: [String: String] = [:]
        skip(ChallengeReader.isBlank)
        let beforeParameters = rest
        if let parameter = parameter() {
            parameters[parameter.name] = parameter.value
        } else {
            // A token68, as Negotiate has, or nothing.
            rest = beforeParameters
            skip { $0 != UInt8(ascii: ",") && !ChallengeReader.isBlank($0) }
            skip(ChallengeReader.isBlank)
        }
        while rest.first == UInt8(ascii: ",") {
            let beforeComma = rest
            skip { $0 == UInt8(ascii: ",") || ChallengeReader.isBlank($0) }
            guard let parameter = parameter() else {
                // Another challenge begins here.
                rest = beforeComma
                break
            }
            if parameters[parameter.name] == nil { parameters[parameter.name] = parameter.value }
        }
        // What follows is neither a parameter nor another challenge.
        if rest.first != UInt8(ascii: ",") { rest = rest[rest.endIndex...] }
        return ServerChallenge(scheme: scheme.asciiLowercased, parameters: parameters)
    }

    /// `name=value`; nil, with nothing read, when there is none.
    private mutating func parameter() -> (name: String, value: String)? {
        let before = rest
        guard let name = token() else { return nil }
        skip(ChallengeReader.isBlank)
        guard rest.first == UInt8(ascii: "=") else {
            rest = before
            return nil
        }
        rest.removeFirst()
        skip(ChallengeReader.isBlank)
        guard let value = rest.first == UInt8(ascii: "\"") ? quoted() : token() else {
            rest = before
            return nil
        }
        skip(ChallengeReader.isBlank)
        return (name.asciiLowercased, value)
    }

    private mutating func token() -> String? {
        let word = rest.prefix(while: \.isTokenByte)
        guard !word.isEmpty else { return nil }
        rest = rest[word.endIndex...]
        return String(Substring(word))
    }

    private mutating func quoted() -> String? {
        rest.removeFirst()
        var bytes: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""):
                return String(decoding: bytes, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let escaped = rest.popFirst() else { return nil }
                bytes.append(escaped)
            default:
                bytes.append(byte)
            }
        }
        return nil
    }

    private mutating func skip(_ isSkipped: (UInt8) -> Bool) {
        rest = rest.drop(while: isSkipped)
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
