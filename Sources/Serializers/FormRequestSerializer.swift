import FoundationEssentials
public import HTTPMessage

/// Writes parameters as a query or as a body of `application/x-www-form-urlencoded`.
///
/// GET, HEAD and DELETE carry them in the URL, all other methods in the body. The members of an object are
/// sorted by the UTF-8 bytes of their names at every level; objects in one another become `outer[inner]`,
/// null a name without an equals sign, and empty arrays and objects nothing. All but letters, digits and
/// `-._~/?` is percent-escaped, a space as `%20`.
public struct FormRequestSerializer: RequestSerializer {
    /// How the elements of an array are named.
    ///
    /// By default `key[]`.
    public var arrayStyle = FormArrayStyle.brackets
    /// How truth values are written.
    ///
    /// By default `1` and `0`.
    public var boolStyle = FormBoolStyle.numeric
    /// The methods whose parameters go into the URL.
    ///
    /// By default GET, HEAD and DELETE; names are compared without regard to case.
    public var methodsEncodingParametersInURL: Set<HTTPMethod> = [.get, .head, .delete] {
        didSet { hasUsualMethods = false }
    }
    /// Whether nobody has changed the set, so that GET need not be hashed for each request.
    private var hasUsualMethods = true
    /// Makes the query in place of this serializer.
    ///
    /// Its text is used as it is; characters that may not stand in a URL are an error when it goes into one.
    /// An error that it throws fails the request as ``SerializationError/custom(_:)``. It is called only for
    /// parameters that are there, on the thread that serializes, for several requests at a time.
    public var customQuery: (@Sendable (JSONValue, HTTPRequest) throws -> String)?

    /// Makes a serializer with the defaults.
    public init() {}

    /// The parameters as a query, without a question mark.
    ///
    /// - Parameter parameters: An object; numbers in it are finite.
    /// - Returns: The escaped text; empty for an object without members.
    /// - Throws: ``SerializationError/invalidParameters(_:)`` for anything else, or for more than 512 levels.
    public func query(from parameters: JSONValue) throws(SerializationError) -> String {
        try QueryEncoder(arrayStyle: arrayStyle, boolStyle: boolStyle).query(from: parameters)
    }

    /// Writes the parameters into the URL or the body, by the request's method.
    ///
    /// A body is announced as `application/x-www-form-urlencoded` unless the request has a `Content-Type`.
    /// Without parameters the body is empty and announced all the same, unless the request has a body already.
    public func serialize(_ parameters: JSONValue?, into request: inout HTTPRequest)
        throws(SerializationError)
    {
        let query = try parameters.map { (parameters) throws(SerializationError) in
            try text(of: parameters, for: request)
        }
        try put(query, into: &request)
    }

    private func text(of parameters: JSONValue, for request: HTTPRequest) throws(SerializationError) -> String
    {
        guard let customQuery else { return try query(from: parameters) }
        do {
            return try customQuery(parameters, request)
        } catch {
            throw .custom(error)
        }
    }

    /// Puts a query where the request's method wants it; nil when there are no parameters.
    func put(_ query: String?, into request: inout HTTPRequest) throws(SerializationError) {
        if putsParametersInURL(of: request.method) {
            try request.appendQuery(query ?? "")
            return
        }
        if query == nil, request.body != nil { return }
        if !request.headers.contains("Content-Type") {
            request.headers["Content-Type"] = "application/x-www-form-urlencoded"
        }
        request.body = .data(Data((query ?? "").utf8))
    }

    /// Whether the parameters of this method go into the URL.
    package func putsParametersInURL(of method: HTTPMethod) -> Bool {
        hasUsualMethods && method == .get
            || methodsEncodingParametersInURL.contains(method)
            || methodsEncodingParametersInURL.contains {
                $0.rawValue.equalsIgnoringASCIICase(method.rawValue)
            }
    }
}
