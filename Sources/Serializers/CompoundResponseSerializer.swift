public import HTTPMessage

/// Tries several serializers of one result, and takes the first that succeeds.
///
/// To join serializers of different results, bring them to one by ``ResponseSerializer/map(_:)``. For "what none of
/// them understands as it is", put a mapped ``DataResponseSerializer`` last.
public struct CompoundResponseSerializer<Output: Sendable>: ResponseSerializer {
    /// The serializers in the order in which they are tried.
    public var serializers: [any ResponseSerializer<Output>]
    /// Which responses are tried at all: by default any; each serializer has its own validation.
    public var validation: ResponseValidation

    /// Makes a serializer of others.
    public init(
        _ serializers: [any ResponseSerializer<Output>],
        validation: ResponseValidation = ResponseValidation(acceptableStatusCodes: nil)
    ) {
        self.serializers = serializers
        self.validation = validation
    }

    /// Checks the response and gives it to one serializer after the other.
    /// - Throws: What this serializer's own validation finds, before any other is tried. When all fail, the error of
    ///   the first that accepted the content type; when none did, that of the first. Without any serializer,
    ///   ``SerializationError/unacceptableContentType(_:underlying:)``.
    public func serialize(_ response: HTTPResponse) throws(SerializationError) -> Output {
        try validation.validate(response)
        var failure: SerializationError?
        for serializer in serializers {
            do {
                return try serializer.serialize(response)
            } catch {
                if let earlier = failure, !earlier.isAboutContentType || error.isAboutContentType { continue }
                failure = error
            }
        }
        throw failure ?? .unacceptableContentType(response.head.mediaType?.essence, underlying: nil)
    }
}

extension SerializationError {
    /// Whether the content type was not accepted, with or without a status that was not.
    fileprivate var isAboutContentType: Bool {
        switch self {
        case .unacceptableContentType: true
        case .unacceptableStatus(_, let underlying): underlying?.isAboutContentType ?? false
        default: false
        }
    }
}
