public import FoundationEssentials
public import HTTPMessage

/// Writes parameters as a property list.
///
/// GET, HEAD and DELETE carry them in the URL instead, by the rules of ``FormRequestSerializer``. Without parameters
/// the request stays as it is.
public struct PropertyListRequestSerializer: RequestSerializer {
    /// XML (by default) or binary.
    public var format: PropertyListDecoder.PropertyListFormat
    /// Writes the parameters of methods that have no body, and says which methods those are.
    public var querySerializer = FormRequestSerializer()

    /// Makes a serializer.
    public init(format: PropertyListDecoder.PropertyListFormat = .xml) {
        self.format = format
    }

    /// Writes an object or an array into the body, with the `Content-Type` `application/x-plist` unless the request
    /// has one.
    /// - Throws: ``SerializationError/invalidParameters(_:)`` for a scalar at the top level; for null, which property
    ///   lists do not have; for nesting deeper than ``JSONValue/maximumDepth``; in XML also for control characters
    ///   that XML 1.0 cannot hold.
    public func serialize(
        _ parameters: JSONValue?,
        into request: inout HTTPRequest
    ) throws(SerializationError) {
        try querySerializer.serialize(
            parameters,
            into: &request,
            asBodyOf: "application/x-plist",
            content(of:)
        )
    }

    private func content(of parameters: JSONValue) throws(SerializationError) -> Data {
        try check(parameters, depth: 0)
        let encoder = PropertyListEncoder()
        encoder.outputFormat = format
        do {
            return try encoder.encode(parameters)
        } catch {
            throw .invalidParameters("they have no form as a property list")
        }
    }

    private func check(_ value: JSONValue, depth: Int) throws(SerializationError) {
        switch value {
        case .null:
            throw .invalidParameters("property lists have no null; leave the member out")
        case .string(let text):
            try check(text)
        case .array(let elements):
            try check(depth: depth)
            for element in elements { try check(element, depth: depth + 1) }
        case .object(let members):
            try check(depth: depth)
            for (key, value) in members {
                try check(key)
                try check(value, depth: depth + 1)
            }
        case .bool, .int, .uint, .double:
            return
        }
    }

    private func check(depth: Int) throws(SerializationError) {
        guard depth < JSONValue.maximumDepth else {
            throw .invalidParameters(
                "arrays and objects are nested deeper than \(JSONValue.maximumDepth) levels"
            )
        }
    }

    /// Refuses what the encoder would write although no XML reader takes it (XML 1.0, production 2).
    private func check(_ text: String) throws(SerializationError) {
        guard format == .xml else { return }
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x09, 0x0A, 0x0D, 0x20...0xFFFD, 0x10000...: continue
            default: throw .invalidParameters("a string holds a character that XML cannot hold")
            }
        }
    }
}
