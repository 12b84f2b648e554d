// Stands in until the module is written; delete this file then.
public struct Certificate: Sendable, Hashable {
    public static func load(named name: String, in directories: [String]) throws(CertificateError)
        -> [Certificate]
    { [] }
}
public struct PublicKeyPin: Sendable, Hashable {}
public struct SecurityPolicy: Sendable, Hashable {
    public enum PinningMode: Int, Sendable, Hashable { case none = 0, publicKey = 1, certificate = 2 }
    public var pinningMode: PinningMode = .none
    public var validatesDomainName = true
    public static let `default` = SecurityPolicy()
    public init(
        pinningMode: PinningMode = .none,
        pinnedCertificates: Set<Certificate> = [],
        allowInvalidCertificates: Bool = false,
        validatesDomainName: Bool = true
    ) {}
}
@nonexhaustive public enum TrustError: Error, Sendable, Hashable { case noCertificate, noPinsConfigured }
@nonexhaustive public enum CertificateError: Error, Sendable, Hashable {
    case notFound(name: String, searched: [String])
}
