import COpenSSL

/// What a server wanted to know of the client in a handshake, and how it took the answer.
///
/// libcurl's codes and texts do not say it: the same code stands for a missing common cipher, and in TLS 1.3 for a
/// connection that broke.
struct ClientCertificateExchange {
    /// Whether the server asked for a certificate.
    private(set) var wasAsked = false
    /// Whether the server has answered a request since, and so accepted what it was shown.
    var isSettled = false
    /// The fatal alert that ended the connection (RFC 8446, section 6.2); nil while there was none.
    private(set) var alert: Int32?

    /// Whether the server may still refuse: in TLS 1.3 the client does not wait for its verdict.
    var isPending: Bool { wasAsked && !isSettled }

    /// Whether the server ended the connection because of the client's certificate, or since there was none.
    ///
    /// The server speaks of nothing else with these alerts once it has asked: its own certificate, ciphers and
    /// versions are settled by then.
    var wasRefused: Bool {
        guard wasAsked, let alert else { return false }
        return ClientCertificateExchange.refusals[alert] != nil
    }

    /// The server's reason in words; nil when it did not refuse.
    var refusal: String? { wasRefused ? alert.flatMap { ClientCertificateExchange.refusals[$0] } : nil }

    private static let refusals: [Int32: String] = [
        SSL3_AD_HANDSHAKE_FAILURE: "handshake failure",
        SSL3_AD_NO_CERTIFICATE: "no certificate",
        SSL3_AD_BAD_CERTIFICATE: "bad certificate",
        SSL3_AD_UNSUPPORTED_CERTIFICATE: "unsupported certificate",
        SSL3_AD_CERTIFICATE_REVOKED: "certificate revoked",
        SSL3_AD_CERTIFICATE_EXPIRED: "certificate expired",
        SSL3_AD_CERTIFICATE_UNKNOWN: "certificate unknown",
        TLS1_AD_UNKNOWN_CA: "unknown authority",
        TLS1_AD_ACCESS_DENIED: "access denied",
        TLS1_AD_DECRYPT_ERROR: "signature not valid",
        TLS13_AD_CERTIFICATE_REQUIRED: "certificate required",
    ]

    /// Notes the request and the alert of every connection of a context that has a `TLSVerification`.
    static func watch(_ context: OpaquePointer) {
        // Asked of a client only when the server has requested a certificate; 1 goes on with what there is.
        SSL_CTX_set_cert_cb(
            context,
            { ssl, _ in
                if let ssl { TLSVerification.current(of: ssl)?.clientCertificate.wasAsked = true }
                return 1
            },
            nil
        )
        SSL_CTX_set_info_callback(context) { ssl, event, value in
            // The level is in the high byte; warnings, such as the regular close, are none of this.
            guard event == SSL_CB_READ_ALERT, value >> 8 == SSL3_AL_FATAL, let ssl else { return }
            TLSVerification.current(of: ssl)?.clientCertificate.alert = value & 0xFF
        }
    }
}
