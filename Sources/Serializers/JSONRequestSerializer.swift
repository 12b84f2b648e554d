public import HTTPMessage

/// Writes parameters as a JSON body.
///
/// GET, HEAD and DELETE carry them in the URL instead, by the rules of ``FormRequestSerializer``. Without parameters
/// the request stays as it is.
public struct JSONRequestSerializer: RequestSerializer {
    /// How the text is written: by default compact with sorted keys.
    public var writingOptions: JSONValue.WritingOptions
    /// Writes the parameters of methods that have no body, and says which methods those are.
    public var querySerializer = FormRequestSerializer()

    /// Makes a serializer.
    public init(writingOptions: JSONValue.WritingOptions = .sortedKeys) {
        self.writingOptions = writingOptions
    }

    /// Writes an object or an array into the body, with the `Content-Type` `application/json` unless the request has
    /// one.
    ///
    /// There is no `charset`: the type has no such parameter (RFC 8259, section 11).
    public func serialize(
        _ parameters: JSONValue?,
        into request: inout HTTPRequest
    ) throws(SerializationError) {
        try querySerializer.serialize(parameters, into: &request, asBodyOf: "application/json") {
            (parameters) throws(SerializationError) in try parameters.data(writingOptions)
        }
    }
}
