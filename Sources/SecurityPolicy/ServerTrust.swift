public import FoundationEssentials

/// What a server showed of itself in the handshake: all the input there is to an evaluation.
public struct ServerTrust: Sendable, Hashable {
    /// The certificates as they were sent: the server's own one first, then whatever it sent along, in any order.
    public var certificates: [Certificate]

    /// The OCSP response that came with the handshake (RFC 6066, 8), DER.
    public var stapledOCSPResponse: Data?

    /// Takes a chain as a value.
    ///
    /// - Parameters:
    ///   - certificates: as sent, leaf first.
    ///   - stapledOCSPResponse: DER, nil if there was none (the default).
    public init(certificates: [Certificate], stapledOCSPResponse: Data? = nil) {
        self.certificates = certificates
        self.stapledOCSPResponse = stapledOCSPResponse
    }

    /// More certificates than this are not looked at: real chains have two to five.
    package static let largestCount = 32
    /// More bytes than this are not looked at.
    ///
    /// OpenSSL's own limit in the handshake is 100 KiB.
    package static let largestSize = 128 << 10

    /// Parses a chain as it came out of the handshake.
    ///
    /// - Parameters:
    ///   - chain: DER, as sent, leaf first.
    ///   - stapledOCSPResponse: DER, if there was one.
    /// - Throws: `noCertificate`, `chainTooLarge`, both before anything is parsed, or `untrusted` with the
    ///   parser's reason.
    package init(
        derCertificates chain: [[UInt8]],
        stapledOCSPResponse: Data? = nil
    ) throws(TrustError) {
        if chain.isEmpty { throw .noCertificate }
        guard chain.count <= ServerTrust.largestCount,
            chain.reduce(0, { $0 + $1.count }) <= ServerTrust.largestSize
        else { throw .chainTooLarge }
        var certificates: [Certificate] = []
        for (position, bytes) in chain.enumerated() {
            guard let record = bytes.withUnsafeBytes({ CertificateRecord(parsing: $0) }) else {
                let parserSays = OpenSSLText.lastError()
                throw .untrusted(
                    code: 1,  // X509_V_ERR_UNSPECIFIED
                    reason: "certificate \(position + 1) of \(chain.count) cannot be parsed (\(parserSays))"
                )
            }
            certificates.append(Certificate(record: record))
        }
        self.init(certificates: certificates, stapledOCSPResponse: stapledOCSPResponse)
    }
}
