/// Which responses are accepted, by status code and content type.
public struct ResponseValidation: Sendable, Hashable {
    /// The status codes that are accepted; nil accepts any, an empty set none.
    ///
    /// By default 200…299.
    public var acceptableStatusCodes: Set<Int>?
    /// The media types that are accepted, without parameters, compared in lower case.
    ///
    /// Nil accepts any, an empty set none.
    public var acceptableContentTypes: Set<String>?

    /// Makes a validation.
    public init(acceptableStatusCodes: Set<Int>? = Set(200...299), acceptableContentTypes: Set<String>? = nil)
    {
        self.acceptableStatusCodes = acceptableStatusCodes
        self.acceptableContentTypes = acceptableContentTypes
    }
}
