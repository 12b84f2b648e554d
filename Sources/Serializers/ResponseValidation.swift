public import HTTPMessage

/// Which responses are accepted, by status code and content type.
public struct ResponseValidation: Sendable, Hashable, Codable {
    /// The status codes that are accepted; nil accepts any, an empty set none.
    ///
    /// By default 200…299.
    public var acceptableStatusCodes: Set<Int>?
    /// The media types that are accepted, without parameters, compared without regard to case.
    ///
    /// Nil accepts any, an empty set none. There are no wildcards: `application/vnd.api+json` is accepted only
    /// when it is in the set. A response without a body is accepted whatever its type.
    public var acceptableContentTypes: Set<String>?

    /// The codes of success, put together once: a hundred insertions would be a tenth of a small request.
    @usableFromInline static let successCodes = Set(200...299)

    /// Makes a validation.
    public init(
        acceptableStatusCodes: Set<Int>? = successCodes,
        acceptableContentTypes: Set<String>? = nil
    ) {
        self.acceptableStatusCodes = acceptableStatusCodes
        self.acceptableContentTypes = acceptableContentTypes
    }

    /// Checks a response's status code and content type.
    /// - Throws: ``SerializationError/unacceptableStatus(_:underlying:)``, with the content type's error underneath
    ///   when that is not accepted either; ``SerializationError/unacceptableContentType(_:underlying:)``.
    public func validate(_ response: HTTPResponse) throws(SerializationError) {
        try validate(response) { () throws(SerializationError) in }
    }

    /// Checks a response and reads its body, so that no failure hides another.
    ///
    /// A body of another content type is not read. That of a status which is not accepted is read for the sake
    /// of the error only.
    /// - Parameters:
    ///   - response: The response.
    ///   - read: Reads the body.
    /// - Returns: What was read.
    /// - Throws: As ``validate(_:)``, with what reading the body finds underneath or alone.
    package func validate<Output>(
        _ response: HTTPResponse,
        thenRead read: () throws(SerializationError) -> Output
    ) throws(SerializationError) -> Output {
        let typeError = contentTypeError(of: response)
        guard accepts(status: response.head.status) else {
            throw .unacceptableStatus(
                response.head.status,
                underlying: typeError ?? Self.failure(of: read)
            )
        }
        if let typeError { throw typeError }
        return try read()
    }

    private static func failure<Output>(
        of read: () throws(SerializationError) -> Output
    ) -> SerializationError? {
        do {
            _ = try read()
            return nil
        } catch {
            return error
        }
    }

    private func accepts(status: Int) -> Bool {
        acceptableStatusCodes?.contains(status) ?? true
    }

    private func contentTypeError(of response: HTTPResponse) -> SerializationError? {
        guard let accepted = acceptableContentTypes, !response.body.isEmpty else { return nil }
        guard let text = response.head.headers["Content-Type"] else {
            return .unacceptableContentType(nil, underlying: nil)
        }
        guard let type = MediaType(text) else { return .unacceptableContentType(text, underlying: nil) }
        let essence = type.essence
        if accepted.contains(essence) { return nil }
        if accepted.contains(where: { $0.equalsIgnoringASCIICase(essence) }) { return nil }
        return .unacceptableContentType(essence, underlying: nil)
    }
}
