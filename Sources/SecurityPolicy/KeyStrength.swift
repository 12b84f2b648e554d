import COpenSSL
import FoundationEssentials

/// Which public keys are strong enough, and small enough to be checked in a handshake.
enum KeyStrength {
    /// 112 bits: the security level of OpenSSL's `auth_level` 2.
    private static let leastSecurity: Int32 = 112
    /// Above 8192 bits a check costs milliseconds, which the server chooses and the client pays.
    private static let rsaBits: ClosedRange<Int32> = 2048...8192

    /// What is wrong with a certificate's key; nil if nothing is.
    static func weakness(of x509: OpaquePointer) -> String? {
        guard let key = X509_get0_pubkey(x509) else {
            ERR_clear_error()
            return "its algorithm is unknown or it is malformed"
        }
        let bits = EVP_PKEY_get_bits(key)
        switch EVP_PKEY_get_base_id(key) {
        case EVP_PKEY_RSA, EVP_PKEY_RSA_PSS:
            guard rsaBits.contains(bits) else { return "RSA with \(bits) bits; 2048 to 8192 are accepted" }
        case EVP_PKEY_EC:
            var explicit: Int32 = 0
            let known = EVP_PKEY_get_int_param(key, "decoded-from-explicit", &explicit)
            guard known == 1, explicit == 0 else { return "an elliptic curve that is not a named one" }
        case EVP_PKEY_ED25519, EVP_PKEY_ED448:
            break
        default:
            return "neither RSA nor an elliptic curve"
        }
        let security = EVP_PKEY_get_security_bits(key)
        guard security >= leastSecurity else {
            return "a strength of \(security) bits; \(leastSecurity) are needed"
        }
        return nil
    }
}
