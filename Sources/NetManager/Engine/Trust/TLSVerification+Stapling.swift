import COpenSSL
import COpenSSLShims
import FoundationEssentials
import SecurityPolicy

/// The OCSP response that a server staples to its handshake (RFC 6066, section 8).
extension TLSVerification {
    /// Asks for a response, and judges the connection once it is there, before the handshake ends.
    ///
    /// In TLS 1.2 the response comes behind the certificates, so the verification of these cannot see it.
    func askForStapledResponse(_ context: OpaquePointer, _ argument: UnsafeMutableRawPointer) {
        SSL_CTX_ctrl(context, SSL_CTRL_SET_TLSEXT_STATUS_REQ_TYPE, Int(TLSEXT_STATUSTYPE_ocsp), nil)
        nm_ssl_ctx_set_tlsext_status_cb(context) { ssl, argument in
            guard let ssl, let argument else { return 0 }
            let verification = Unmanaged<TLSVerification>.fromOpaque(argument).takeUnretainedValue()
            let verdict = verification.judge(ssl)
            // libcurl reads the oldest entry of the queue and would report what OpenSSL tried on the way.
            ERR_clear_error()
            // 0 ends the handshake with the alert bad_certificate_status_response.
            return if case .success = verdict { 1 } else { 0 }
        }
        SSL_CTX_ctrl(context, SSL_CTRL_SET_TLSEXT_STATUS_REQ_CB_ARG, 0, argument)
    }

    /// The policy as it stands before the response is there.
    var policyWithoutStapling: SecurityPolicy {
        guard policy.stapledOCSP != .off else { return policy }
        var policy = policy
        policy.stapledOCSP = .off
        return policy
    }

    /// What the server stapled; nil for nothing.
    static func stapledResponse(of ssl: OpaquePointer) -> Data? {
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = withUnsafeMutablePointer(to: &bytes) {
            SSL_ctrl(ssl, SSL_CTRL_GET_TLSEXT_STATUS_REQ_OCSP_RESP, 0, $0)
        }
        // −1 without a response.
        guard let bytes, count > 0 else { return nil }
        return Data(bytes: bytes, count: count)
    }
}
