import FoundationEssentials
import HTTPMessage

extension FormRequestSerializer {
    /// Puts parameters into the URL, by the rules of this serializer, where the request's method wants that; else
    /// into a body in another form.
    ///
    /// Without parameters such a body is left out.
    /// - Parameters:
    ///   - parameters: The parameters.
    ///   - request: The request.
    ///   - contentType: What the body is announced as unless the request has a `Content-Type`.
    ///   - content: Makes the body of an object or an array. Anything else is refused: parameters have names, or at
    ///     least places.
    /// - Throws: ``SerializationError/invalidParameters(_:)``, and what the query or the content throws.
    func serialize(
        _ parameters: JSONValue?,
        into request: inout HTTPRequest,
        asBodyOf contentType: String,
        _ content: (JSONValue) throws(SerializationError) -> Data
    ) throws(SerializationError) {
        if putsParametersInURL(of: request.method) {
            return try serialize(parameters, into: &request)
        }
        guard let parameters else { return }
        switch parameters {
        case .array, .object: break
        default: throw .invalidParameters("the top level must be an object or an array")
        }
        request.body = .data(try content(parameters))
        if !request.headers.contains("Content-Type") { request.headers["Content-Type"] = contentType }
    }
}
