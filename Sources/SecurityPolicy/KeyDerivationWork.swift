import COpenSSL

/// How many iterations the keys that protect a file are derived with: a file of a hundred bytes can ask for hours.
struct KeyDerivationWork {
    /// The most iterations of all derivations of an identity together: some ten seconds.
    ///
    /// OpenSSL writes 2,048, other programs up to a million.
    static let limit: Int64 = 10_000_000

    private var iterations: Int64 = 0

    /// Takes note of the derivation that an algorithm (PKCS#5 or PKCS#12) stands for.
    /// - Throws: ``ClientIdentityError/unsupported(reason:)`` when there is too much to do by now.
    mutating func add(_ algorithm: UnsafePointer<X509_ALGOR>?) throws(ClientIdentityError) {
        try add(Self.iterations(of: algorithm))
    }

    /// Takes note of all derivations that a PKCS#12 file takes, those that only show when something is decrypted included.
    ///
    /// What cannot be read is passed over: the one who reads it in earnest says what is wrong with it.
    mutating func add(
        pkcs12 file: OpaquePointer,
        _ password: String?
    ) throws(ClientIdentityError) {
        var mac: UnsafePointer<X509_ALGOR>?
        var count: UnsafePointer<ASN1_INTEGER>?
        PKCS12_get0_mac(nil, &mac, nil, &count, file)
        if let count { try add(Self.number(count)) }
        // OpenSSL 3.4 knows a MAC by PKCS#5 (RFC 9579), whose parameters begin as those of an encryption do.
        try add(Self.iterations(ofScheme: mac))
        guard let safes = PKCS12_unpack_authsafes(file) else { return }
        defer { Self.free(safes) { PKCS7_free($0.assumingMemoryBound(to: PKCS7.self)) } }
        var mostOfKey: Int64 = 0
        for index in 0..<OPENSSL_sk_num(safes) {
            guard let safe = OPENSSL_sk_value(safes, index)?.assumingMemoryBound(to: PKCS7.self) else {
                continue
            }
            guard let bags = try opened(safe, password) else { continue }
            defer { Self.free(bags) { PKCS12_SAFEBAG_free(OpaquePointer($0)) } }
            mostOfKey = max(mostOfKey, Self.mostIterations(inKeysOf: bags))
        }
        // Of several keys one is decrypted.
        try add(mostOfKey)
    }

    private mutating func add(_ count: Int64) throws(ClientIdentityError) {
        guard count <= Self.limit - iterations else {
            throw .unsupported(reason: "its keys are derived with more than \(Self.limit) iterations")
        }
        iterations += count
    }

    /// The bags of a safe; nil when it cannot be opened.
    private mutating func opened(
        _ safe: UnsafeMutablePointer<PKCS7>,
        _ password: String?
    ) throws(ClientIdentityError) -> OpaquePointer? {
        switch OBJ_obj2nid(safe.pointee.type) {
        case NID_pkcs7_data:
            return PKCS12_unpack_p7data(safe)
        case NID_pkcs7_encrypted:
            guard let contents = safe.pointee.d.encrypted?.pointee.enc_data else { return nil }
            try add(contents.pointee.algorithm)
            // No password is one of two, as to PKCS12_parse.
            guard let password, !password.isEmpty else {
                return PKCS12_unpack_p7encdata(safe, nil, -1) ?? PKCS12_unpack_p7encdata(safe, "", -1)
            }
            return PKCS12_unpack_p7encdata(safe, password, -1)
        default:
            return nil
        }
    }

    private static func mostIterations(inKeysOf bags: OpaquePointer) -> Int64 {
        var most: Int64 = 0
        for index in 0..<OPENSSL_sk_num(bags) {
            guard let bag = OPENSSL_sk_value(bags, index).map({ OpaquePointer($0) }) else { continue }
            switch PKCS12_SAFEBAG_get_nid(bag) {
            case NID_pkcs8ShroudedKeyBag:
                var algorithm: UnsafePointer<X509_ALGOR>?
                X509_SIG_get0(PKCS12_SAFEBAG_get0_pkcs8(bag), &algorithm, nil)
                most = max(most, iterations(of: algorithm))
            case NID_safeContentsBag:
                // How deep they lie in one another is bounded by OpenSSL's decoder.
                guard let inner = PKCS12_SAFEBAG_get0_safes(bag) else { continue }
                most = max(most, mostIterations(inKeysOf: inner))
            default:
                break
            }
        }
        return most
    }

    // MARK: Algorithms

    /// The iterations of an encryption under a password; 0 for what is none, which OpenSSL refuses.
    private static func iterations(of algorithm: UnsafePointer<X509_ALGOR>?) -> Int64 {
        guard let (kind, parameters) = parts(of: algorithm) else { return 0 }
        if kind == NID_pbes2 { return iterations(ofScheme: algorithm) }
        return decoded(parameters, d2i_PBEPARAM, PBEPARAM_free) { number($0.pointee.iter) } ?? 0
    }

    /// The iterations of a scheme that names a derivation and what its key is for (RFC 8018, section 6.2).
    private static func iterations(ofScheme algorithm: UnsafePointer<X509_ALGOR>?) -> Int64 {
        guard let (_, parameters) = parts(of: algorithm) else { return 0 }
        return decoded(parameters, d2i_PBE2PARAM, PBE2PARAM_free) { scheme in
            guard let (derivation, parameters) = parts(of: scheme.pointee.keyfunc) else { return 0 }
            if derivation == NID_id_scrypt {
                return decoded(parameters, d2i_SCRYPT_PARAMS, SCRYPT_PARAMS_free) { scrypt in
                    // A mixing of one block takes as long as an iteration of PBKDF2.
                    let blocks = product(
                        number(scrypt.pointee.costParameter),
                        number(scrypt.pointee.blockSize)
                    )
                    return product(blocks, number(scrypt.pointee.parallelizationParameter))
                } ?? 0
            }
            return decoded(parameters, d2i_PBKDF2PARAM, PBKDF2PARAM_free) { number($0.pointee.iter) } ?? 0
        } ?? 0
    }

    /// An algorithm's number and parameters; nil when these are no sequence.
    private static func parts(
        of algorithm: UnsafePointer<X509_ALGOR>?
    ) -> (kind: Int32, parameters: UnsafePointer<ASN1_STRING>)? {
        guard let algorithm else { return nil }
        var kind: OpaquePointer?
        var type: Int32 = 0
        var value: UnsafeRawPointer?
        X509_ALGOR_get0(&kind, &type, &value, algorithm)
        guard type == V_ASN1_SEQUENCE, let value else { return nil }
        return (OBJ_obj2nid(kind), value.assumingMemoryBound(to: ASN1_STRING.self))
    }

    /// Reads parameters, looks at them and frees them; nil when they are not of this kind.
    private static func decoded<Parameters>(
        _ bytes: UnsafePointer<ASN1_STRING>,
        _ decode: (
            UnsafeMutablePointer<UnsafeMutablePointer<Parameters>?>?,
            UnsafeMutablePointer<UnsafePointer<UInt8>?>?, Int
        ) -> UnsafeMutablePointer<Parameters>?,
        _ free: (UnsafeMutablePointer<Parameters>?) -> Void,
        _ look: (UnsafeMutablePointer<Parameters>) -> Int64
    ) -> Int64? {
        var cursor = ASN1_STRING_get0_data(bytes)
        guard let parameters = decode(nil, &cursor, Int(ASN1_STRING_length(bytes))) else { return nil }
        defer { free(parameters) }
        return look(parameters)
    }

    private static func product(_ one: Int64, _ other: Int64) -> Int64 {
        let (value, overflows) = one.multipliedReportingOverflow(by: other)
        return overflows ? .max : value
    }

    /// A number; 1 where there is none, as to OpenSSL, and the largest where it is negative or has more
    /// than 64 bits.
    private static func number(_ number: UnsafePointer<ASN1_INTEGER>?) -> Int64 {
        guard let number else { return 1 }
        var value: Int64 = 0
        return ASN1_INTEGER_get_int64(&value, number) == 1 && value >= 0 ? value : .max
    }

    private static func free(_ stack: OpaquePointer, _ freeMember: (UnsafeMutableRawPointer) -> Void) {
        for index in 0..<OPENSSL_sk_num(stack) {
            if let member = OPENSSL_sk_value(stack, index) { freeMember(member) }
        }
        OPENSSL_sk_free(stack)
    }
}
