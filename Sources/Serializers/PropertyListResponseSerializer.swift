public import FoundationEssentials
public import HTTPMessage

/// Gives a property list as a value of a type of the caller's.
///
/// It may be XML in UTF-8, or in another character set that contains ASCII, or the binary form (of less than 2 GiB), but
/// not the old form of braces. One that is nested deeper than ``JSONValue/maximumDepth``, contains itself, repeats its
/// parts without end or declares entities is refused before anything decodes it.
///
/// Bodies without content are treated as by ``DecodableResponseSerializer``. The body of a response with an
/// unacceptable status is not decoded.
public struct PropertyListResponseSerializer<Output: Decodable & Sendable>: ResponseSerializer {
    /// Which responses are accepted: by default 200…299 and `application/x-plist`.
    public var validation: ResponseValidation
    /// Makes the decoder of a response.
    ///
    /// It is called once per response that has a body, on the thread that serializes.
    public var decoder: @Sendable () -> PropertyListDecoder

    /// Makes a serializer.
    /// - Parameters:
    ///   - type: What the body becomes.
    ///   - validation: Which responses are accepted.
    ///   - decoder: Makes the decoder of a response; by default one with default settings.
    public init(
        _ type: Output.Type = Output.self,
        validation: ResponseValidation = ResponseValidation(acceptableContentTypes: ["application/x-plist"]),
        decoder: @escaping @Sendable () -> PropertyListDecoder = { PropertyListDecoder() }
    ) {
        self.validation = validation
        self.decoder = decoder
    }

    /// Checks the response and decodes its body.
    /// - Throws: ``SerializationError/malformedPropertyList(reason:)``;
    ///   ``SerializationError/undecodable(type:underlying:)`` with the decoder's error when the list is no such value;
    ///   ``SerializationError/emptyBody``; what the validation finds.
    public func serialize(_ response: HTTPResponse) throws(SerializationError) -> Output {
        try validation.validate(response)
        if response.hasNoContent { return try response.emptyOutput() }
        try PropertyListGuard.check(response.body)
        do {
            return try decoder().decode(Output.self, from: response.body)
        } catch DecodingError.dataCorrupted(let context) where context.codingPath.isEmpty {
            throw .malformedPropertyList(reason: context.debugDescription)
        } catch {
            throw .undecodable(type: "\(Output.self)", underlying: error)
        }
    }
}

extension ResponseSerializer {
    /// The property list as a value of a type, of a response with `application/x-plist` and a status of 200…299.
    public static func propertyList<T: Decodable & Sendable>(
        _ type: T.Type,
        decoder: @escaping @Sendable () -> PropertyListDecoder = { PropertyListDecoder() }
    ) -> Self where Self == PropertyListResponseSerializer<T> {
        PropertyListResponseSerializer(type, decoder: decoder)
    }
}
