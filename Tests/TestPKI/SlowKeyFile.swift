import COpenSSL
public import FoundationEssentials

/// Files of a few hundred bytes that say that their keys take long to derive; what they would protect is noise.
public enum SlowKeyFile {
    /// How a key is made of a password.
    public enum Derivation: Sendable, Hashable {
        /// PBKDF2 (RFC 8018, section 5.2) in PBES2.
        case pbkdf2(Int64)
        /// The derivation of PKCS#12 (RFC 7292, appendix B).
        case pkcs12(Int64)
        /// scrypt (RFC 7914) in PBES2.
        case scrypt(cost: Int64, blockSize: Int64, parallelization: Int64)
    }

    /// Where in a PKCS#12 file the derivation stands.
    public enum Place: Sendable, Hashable, CaseIterable {
        /// Over the whole file, which must be right before anything is decrypted; PKCS#12 only.
        case mac
        /// Over a safe of certificates.
        case safe
        /// Over the key.
        case key
        /// Over a key in a safe within a safe that is encrypted under the password, with few iterations.
        case hiddenKey
    }

    /// Encrypted PKCS#8 (RFC 5958, section 3), DER.
    public static func encryptedKey(_ derivation: Derivation) -> Data {
        sequence(algorithm(derivation) + octets(Data(count: 16)))
    }

    /// Encrypted PKCS#8, PEM.
    public static func encryptedKeyPEM(_ derivation: Derivation) -> String {
        pem("ENCRYPTED PRIVATE KEY", encryptedKey(derivation))
    }

    /// PKCS#12 (RFC 7292).
    /// - Parameters:
    ///   - derivations: What stands where; the contents of the file in this order.
    ///   - password: Opens the safe around a hidden key.
    /// - Returns: The file, DER.
    /// - Throws: ``PKIError``.
    public static func pkcs12(_ derivations: [(Place, Derivation)], password: String) throws -> Data {
        var safes = Data()
        var mac = Data()
        for (place, derivation) in derivations {
            switch place {
            case .mac:
                guard case .pkcs12(let count) = derivation else {
                    throw PKIError("choose a derivation for a MAC")
                }
                let digest = sequence(sequence(oid("2B0E03021A")) + octets(Data(count: 20)))
                mac = sequence(digest + octets(Data(count: 8)) + integer(count))
            case .safe:
                let contents =
                    oid(data) + algorithm(derivation) + derElement(tag: 0x80, Data(count: 16))
                let encrypted = sequence(integer(0) + sequence(contents))
                safes += sequence(oid("2A864886F70D010706") + derElement(tag: 0xA0, encrypted))
            case .key:
                safes += contentInfo(sequence(keyBag(derivation)))
            case .hiddenKey:
                let inner = derElement(tag: 0xA0, sequence(keyBag(derivation)))
                safes += try encryptedSafe(sequence(oid("2A864886F70D010C0A0106") + inner), password)
            }
        }
        return sequence(integer(3) + contentInfo(sequence(safes)) + mac)
    }

    private static let data = "2A864886F70D010701"

    private static func keyBag(_ derivation: Derivation) -> Data {
        sequence(oid("2A864886F70D010C0A0102") + derElement(tag: 0xA0, encryptedKey(derivation)))
    }

    /// A safe of one bag that is really encrypted.
    private static func encryptedSafe(_ bag: Data, _ password: String) throws -> Data {
        let bag = try decoded(bag, "read a bag") { d2i_PKCS12_SAFEBAG(nil, $0, $1) }
        defer { PKCS12_SAFEBAG_free(bag) }
        let bags = try OPENSSL_sk_new_null().orThrow("allocate a stack")
        defer { OPENSSL_sk_free(bags) }
        try check(OPENSSL_sk_push(bags, UnsafeRawPointer(bag)), "push a bag")
        let cipher = NID_pbe_WithSHA1And3_Key_TripleDES_CBC
        let safe = try PKCS12_pack_p7encdata(cipher, password, -1, nil, 0, 1_000, bags).orThrow("pack a safe")
        defer { PKCS7_free(safe) }
        return try encoded("encode a safe") { i2d_PKCS7(safe, $0) }
    }

    private static func algorithm(_ derivation: Derivation) -> Data {
        let salt = octets(Data(count: 8))
        let function: Data
        switch derivation {
        case .pkcs12(let count):
            return sequence(oid("2A864886F70D010C0103") + sequence(salt + integer(count)))
        case .pbkdf2(let count):
            function = oid("2A864886F70D01050C") + sequence(salt + integer(count))
        case .scrypt(let cost, let blockSize, let parallelization):
            let parameters = salt + integer(cost) + integer(blockSize) + integer(parallelization)
            function = oid("2B06010401DA47040B") + sequence(parameters)
        }
        let cipher = sequence(oid("60864801650304012A") + octets(Data(count: 16)))
        return sequence(oid("2A864886F70D01050D") + sequence(sequence(function) + cipher))
    }

    // MARK: DER

    private static func contentInfo(_ contents: Data) -> Data {
        sequence(oid(data) + derElement(tag: 0xA0, octets(contents)))
    }

    private static func sequence(_ contents: Data) -> Data { derElement(tag: 0x30, contents) }

    private static func octets(_ bytes: Data) -> Data { derElement(tag: 0x04, bytes) }

    private static func integer(_ value: Int64) -> Data {
        derElement(tag: 0x02, withUnsafeBytes(of: value.bigEndian) { Data($0) }.minimalInteger)
    }

    private static func oid(_ hexadecimal: String) -> Data {
        var rest = hexadecimal[...]
        var bytes = Data()
        while !rest.isEmpty {
            bytes.append(UInt8(rest.prefix(2), radix: 16) ?? 0)
            rest = rest.dropFirst(2)
        }
        return derElement(tag: 0x06, bytes)
    }
}

extension Data {
    /// A number in two's complement without bytes that say nothing (X.690, section 8.3).
    fileprivate var minimalInteger: Data {
        var bytes = self
        while bytes.count > 1, let first = bytes.first, let second = bytes.dropFirst().first,
            first == 0 && second < 0x80 || first == 0xFF && second >= 0x80
        {
            bytes = bytes.dropFirst()
        }
        return Data(bytes)
    }
}
