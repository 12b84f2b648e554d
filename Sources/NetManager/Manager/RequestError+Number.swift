import Serializers

extension RequestError {
    /// The domain and code as an `NSError`.
    package var number: ErrorNumber {
        if underlying is UnsendableBody { return .url(-1021) }  // request body stream exhausted
        switch kind {
        case .invalidURL: return .url(hasForeignScheme ? -1002 : -1000)  // unsupported URL; bad URL
        case .invalidRequest, .file:
            return (underlying as? SerializationError)?.number ?? .request(-1000)
        case .invalidConfiguration, .certificate: return .ownConfiguration
        case .shutDown: return .ownShutDown
        case .cancelled: return .url(-999)
        case .timedOut: return .url(-1001)
        case .nameNotResolved: return .url(-1003)  // cannot find host
        case .cannotConnect, .proxyFailed: return .url(-1004)  // cannot connect to host
        case .connectionLost, .outcomeUnknown: return .url(-1005)  // network connection lost
        case .tooManyRedirects: return .url(-1007)
        case .redirectRefused: return .url(-1010)  // redirect to a location that cannot be had
        case .protocolError: return .url(-1011)  // bad server response
        case .bodyTooLarge: return .url(-1103)  // data length exceeds maximum
        case .tlsFailed: return .url(-1200)  // secure connection failed
        case .untrustedServer: return .url(-1202)  // server certificate untrusted
        case .clientCertificateRefused: return .url(isMissingCertificate ? -1206 : -1205)
        case .unacceptableStatus(let status):
            return SerializationError.unacceptableStatus(status, underlying: nil).number
        case .unacceptableContentType(let type):
            return SerializationError.unacceptableContentType(type, underlying: nil).number
        case .undecodable(let error): return error.number
        case .custom(let error): return ErrorNumber(error._domain, error._code)
        }
    }

    /// Whether the URL has a scheme that is neither http nor https.
    private var hasForeignScheme: Bool {
        guard let scheme = URLReference(request.url).scheme?.lowercased() else { return false }
        return scheme != "http" && scheme != "https"
    }

    /// TLS 1.3 has an alert of its own for a client certificate that was asked for and not given (RFC 8446, 6.2).
    private var isMissingCertificate: Bool {
        // The alert says it in TLS 1.3 only; what the handshake asked for says it in both versions.
        detail.map { $0.contains("certificate required") || $0.contains("certificate, which was not given") }
            ?? false
    }

    // swift-format-ignore: NoLeadingUnderscores
    /// The domain of `error as NSError`: a requirement of `Error`, whose name is the standard library's.
    public var _domain: String { number.domain }

    // swift-format-ignore: NoLeadingUnderscores
    /// The code of `error as NSError`: a requirement of `Error`, whose name is the standard library's.
    public var _code: Int { number.code }
}

extension ErrorNumber {
    /// What neither Foundation nor AFNetworking has a number for.
    package static let ownDomain = "NetManager.RequestError"

    /// A configuration that cannot work, a certificate that is missing among it: nothing was sent.
    fileprivate static let ownConfiguration = ErrorNumber(ownDomain, 1)
    /// The manager or its transport has been shut down.
    fileprivate static let ownShutDown = ErrorNumber(ownDomain, 2)
}
