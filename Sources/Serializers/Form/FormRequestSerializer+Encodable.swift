public import HTTPMessage

extension FormRequestSerializer {
    /// Writes a value of the caller's own type into the URL or the body, by the request's method.
    ///
    /// ``customQuery`` is not asked.
    /// - Parameters:
    ///   - parameters: A value that encodes itself as an object.
    ///   - request: The request to change. After an error its content is not used.
    ///   - encoder: Writes the value; nil takes one with this serializer's ``arrayStyle`` and ``boolStyle``.
    /// - Throws: What ``URLEncodedFormEncoder/encode(_:)`` throws.
    @_disfavoredOverload
    public func serialize(
        _ parameters: some Encodable & Sendable,
        into request: inout HTTPRequest,
        encoder: URLEncodedFormEncoder? = nil
    ) throws(SerializationError) {
        // Disfavored, so that literals and JSON values go to the protocol's method, whose argument is optional.
        var chosen = encoder ?? URLEncodedFormEncoder()
        if encoder == nil {
            chosen.arrayStyle = arrayStyle
            chosen.boolStyle = boolStyle
        }
        try put(try chosen.encode(parameters), into: &request)
    }
}
