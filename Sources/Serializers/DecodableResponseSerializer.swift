public import FoundationEssentials
public import HTTPMessage

/// Gives the JSON body as a value of a type of the caller's.
///
/// A body that is empty, or exactly one space, is nil for an optional type; for a type that is
/// ``EmptyRepresentable`` it is its `empty` when the status is 204 or 205 or the request was HEAD; for every other it
/// is an error. Character sets are treated as ``JSONResponseSerializer`` does. The body of a response with an
/// unacceptable status is not decoded.
public struct DecodableResponseSerializer<Output: Decodable & Sendable>: ResponseSerializer {
    /// Which responses are accepted: by default 200…299 and ``JSONResponseSerializer/contentTypes``.
    public var validation: ResponseValidation
    /// Makes the decoder of a response; it decides about dates, data and key names.
    ///
    /// It is called once per response that has a body, on the thread that serializes.
    public var decoder: @Sendable () -> JSONDecoder

    /// Makes a serializer.
    /// - Parameters:
    ///   - type: What the body becomes.
    ///   - validation: Which responses are accepted.
    ///   - decoder: Makes the decoder of a response; by default one with default settings.
    public init(
        _ type: Output.Type = Output.self,
        validation: ResponseValidation = ResponseValidation(
            acceptableContentTypes: JSONResponseSerializer.contentTypes
        ),
        decoder: @escaping @Sendable () -> JSONDecoder = { JSONDecoder() }
    ) {
        self.validation = validation
        self.decoder = decoder
    }

    /// Checks the response and decodes its body.
    /// - Throws: ``SerializationError/emptyBody``; ``SerializationError/undecodable(type:underlying:)`` with the
    ///   decoder's error; ``SerializationError/malformedJSON(reason:offset:)`` when the body is no JSON text; what the
    ///   validation finds.
    public func serialize(_ response: HTTPResponse) throws(SerializationError) -> Output {
        try validation.validate(response)
        if response.hasNoContent { return try response.emptyOutput() }
        let text = try response.jsonText(replacingInvalidBytes: false)
        do {
            return try decoder().knowing(JSONTreeSource(reading: text)).decode(Output.self, from: text)
        } catch {
            // A text that is no JSON at all gets the reason and the offset that the tree's reader finds.
            if case DecodingError.dataCorrupted = error { _ = try JSONValue(parsing: text) }
            throw .undecodable(type: "\(Output.self)", underlying: error)
        }
    }
}

extension ResponseSerializer {
    /// The JSON body as a value of a type, of a response with a JSON content type and a status of 200…299.
    public static func decoding<T: Decodable & Sendable>(
        _ type: T.Type,
        decoder: @escaping @Sendable () -> JSONDecoder = { JSONDecoder() }
    ) -> Self where Self == DecodableResponseSerializer<T> {
        DecodableResponseSerializer(type, decoder: decoder)
    }
}

extension HTTPResponse {
    /// The value for a response without content.
    /// - Throws: ``SerializationError/emptyBody`` when the type has none, or the status should have come with content.
    func emptyOutput<Output>() throws(SerializationError) -> Output {
        if let type = Output.self as? any AbsenceRepresentable.Type, let value = type.absent as? Output {
            return value
        }
        if isContentless, let type = Output.self as? any EmptyRepresentable.Type,
            let value = type.empty as? Output
        {
            return value
        }
        throw .emptyBody
    }
}
