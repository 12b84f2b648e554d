/// A media type with parameters (RFC 9110, section 8.3.1), such as `application/json; charset=utf-8`.
public struct MediaType: Sendable, Hashable {
    /// The type, in lower case: `application`.
    public let type: String
    /// The subtype, in lower case: `json`.
    public let subtype: String
    /// The parameters in order: names in lower case, values without their quotes.
    public let parameters: [Parameter]

    /// One parameter of a media type.
    public struct Parameter: Sendable, Hashable {
        /// The name, in lower case.
        public let name: String
        /// The value as it was sent, without quotes and escapes.
        public let value: String
    }

    /// Reads a `Content-Type` value; nil when it does not begin with `type/subtype`.
    ///
    /// Parameters that are malformed are left out: what servers send is not always well-formed, and the type
    /// still says what the content is.
    public init?(_ text: String) {
        let essenceEnd = text.unicodeScalars.firstIndex(of: ";") ?? text.endIndex
        let essence = text[..<essenceEnd].trimmingOptionalWhitespace
        let halves = essence.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard halves.count == 2, halves[0].isHTTPToken, halves[1].isHTTPToken else { return nil }
        type = halves[0].asciiLowercased
        subtype = halves[1].asciiLowercased
        parameters = ParameterReader.parameters(in: text[essenceEnd...].unicodeScalars)
    }

    /// `type/subtype` in lower case, without parameters.
    public var essence: String { "\(type)/\(subtype)" }

    /// The value of a parameter; nil when it is absent.
    public subscript(parameter name: String) -> String? {
        parameters.first { $0.name.equalsIgnoringASCIICase(name) }?.value
    }

    /// The `charset` parameter as it was sent.
    public var charset: String? { self[parameter: "charset"] }
}

/// Reads `; name=value; name="quoted"` one parameter at a time.
///
/// It reads scalars, since a delimiter with a combining mark behind it is another character.
private struct ParameterReader {
    typealias Scalars = Substring.UnicodeScalarView

    private var rest: Scalars

    static func parameters(in text: Scalars) -> [MediaType.Parameter] {
        var reader = ParameterReader(rest: text)
        var parameters: [MediaType.Parameter] = []
        while reader.skipSeparator() {
            if let parameter = reader.readParameter() { parameters.append(parameter) }
        }
        return parameters
    }

    /// Moves behind the next semicolon; false at the end.
    private mutating func skipSeparator() -> Bool {
        guard let semicolon = rest.firstIndex(of: ";") else { return false }
        rest = rest[rest.index(after: semicolon)...]
        return true
    }

    /// Reads one parameter and leaves the reader at the semicolon behind it; nil when it is malformed.
    private mutating func readParameter() -> MediaType.Parameter? {
        let name = take { $0 != "=" && $0 != ";" }.trimmingOptionalWhitespace
        guard rest.first == "=" else { return nil }
        rest = rest.dropFirst()
        let value: String
        if rest.first(where: { $0 != " " && $0 != "\t" }) == "\"" {
            guard let quoted = readQuotedString() else { return nil }
            value = quoted
        } else {
            value = String(take { $0 != ";" }.trimmingOptionalWhitespace)
        }
        guard name.isHTTPToken else { return nil }
        return MediaType.Parameter(name: name.asciiLowercased, value: value)
    }

    /// Takes off what stands in front as long as the condition holds.
    private mutating func take(while isWanted: (Unicode.Scalar) -> Bool) -> Substring {
        let taken = rest.prefix(while: isWanted)
        rest = rest[taken.endIndex...]
        return Substring(taken)
    }

    /// Reads a quoted string (RFC 9110, section 5.6.4); nil when its closing quote is missing.
    private mutating func readQuotedString() -> String? {
        guard let open = rest.firstIndex(of: "\"") else { return nil }
        rest = rest[rest.index(after: open)...]
        var value = String.UnicodeScalarView()
        while let scalar = rest.popFirst() {
            switch scalar {
            case "\"": return String(value)
            case "\\":
                guard let escaped = rest.popFirst() else { return nil }
                value.append(escaped)
            default: value.append(scalar)
            }
        }
        return nil
    }
}
