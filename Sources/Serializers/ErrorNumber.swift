/// The domain and code that an error has as an `NSError`: those of AFNetworking, so that code which was moved over goes
/// on comparing them.
///
/// They stand here and not beside the bridge to Foundation because Foundation on Linux asks the error itself, through
/// requirements of the standard library's `Error` that only the error's own module can implement.
package struct ErrorNumber: Sendable, Hashable {
    package var domain: String
    package var code: Int

    package init(_ domain: String, _ code: Int) {
        self.domain = domain
        self.code = code
    }

    /// A number of Foundation's URL loading system, `NSURLErrorDomain`.
    package static func url(_ code: Int) -> ErrorNumber { ErrorNumber("NSURLErrorDomain", code) }

    /// A number of Foundation's own, `NSCocoaErrorDomain`.
    package static func cocoa(_ code: Int) -> ErrorNumber { ErrorNumber("NSCocoaErrorDomain", code) }

    /// A response that a serializer did not take.
    package static func response(_ code: Int) -> ErrorNumber { ErrorNumber(responseDomain, code) }

    /// Parameters that a serializer could not write.
    package static func request(_ code: Int) -> ErrorNumber { ErrorNumber(requestDomain, code) }

    package static let responseDomain = "com.alamofire.error.serialization.response"
    package static let requestDomain = "com.alamofire.error.serialization.request"
}

extension SerializationError {
    /// The domain and code as an `NSError`.
    package var number: ErrorNumber {
        switch self {
        case .invalidParameters, .invalidRequest: .request(-1016)  // cannot decode content data
        case .file: .request(-1000)  // bad URL
        case .custom(let error): ErrorNumber(error._domain, error._code)
        case .unacceptableStatus: .response(-1011)  // bad server response
        case .unacceptableContentType: .response(-1016)  // cannot decode content data
        case .malformedJSON, .malformedPropertyList: .cocoa(3840)  // property list read corrupt, JSON too
        case .malformedXML(let code, _, _, _): ErrorNumber("NSXMLParserErrorDomain", code)
        case .emptyBody: .response(-1014)  // zero byte resource
        case .undecodable(_, DecodingError.keyNotFound), .undecodable(_, DecodingError.valueNotFound):
            .cocoa(4865)  // coder value not found
        case .undecodable: .cocoa(4864)  // coder read corrupt
        case .unreadableText: .cocoa(261)  // file read inapplicable string encoding
        case .unknownCharset: .cocoa(264)  // file read unknown string encoding
        case .tooLarge: .url(-1103)  // data length exceeds maximum
        }
    }

    // swift-format-ignore: NoLeadingUnderscores
    /// The domain of `error as NSError`: a requirement of `Error`, whose name is the standard library's.
    public var _domain: String { number.domain }

    // swift-format-ignore: NoLeadingUnderscores
    /// The code of `error as NSError`: a requirement of `Error`, whose name is the standard library's.
    public var _code: Int { number.code }
}
