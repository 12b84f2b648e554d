public import HTTPMessage

/// Puts parameters into a request.
///
/// The manager calls it once per call, off the engine's thread, on any thread and for several requests at a time.
public protocol RequestSerializer: Sendable {
    /// Writes the parameters into the request's URL or body and adds the header fields that go with them.
    ///
    /// Header fields that the request has already are kept.
    /// - Parameters:
    ///   - parameters: The parameters; nil when the caller gave none.
    ///   - request: The request to change. After an error its content is not used.
    /// - Throws: ``SerializationError`` when the parameters cannot be written; nothing has been sent then.
    func serialize(_ parameters: JSONValue?, into request: inout HTTPRequest) throws(SerializationError)
}
