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
        if querySerializer.putsParametersInURL(of: request.method) {
            return try querySerializer.serialize(parameters, into: &request)
        }
        guard let parameters else { return }
        try parameters.requireContainer()
        request.setBody(.data(try parameters.data(writingOptions)), contentType: "application/json")
    }
}

extension JSONValue {
    /// Refuses a scalar: parameters have names, or at least places.
    func requireContainer() throws(SerializationError) {
        switch self {
        case .array, .object: return
        default: throw .invalidParameters("the top level must be an object or an array")
        }
    }
}

extension HTTPRequest {
    /// Sets the body, and the type of content if there is none yet.
    mutating func setBody(_ body: HTTPBody, contentType: String) {
        if !headers.contains("Content-Type") { headers["Content-Type"] = contentType }
        self.body = body
    }
}
