import COpenSSL
import COpenSSLShims
import FoundationEssentials

/// Finds out what bytes are (DER, PEM, PKCS#7 or something that is no certificate) and reads certificates.
struct CertificateReader {
    private let data: Data

    /// Reads every certificate in the bytes; the answer is never empty.
    static func certificates(in data: Data) throws(CertificateError) -> [Certificate] {
        defer { ERR_clear_error() }
        let reader = CertificateReader(data: data)
        if data.isEmpty { throw .malformed(reason: "there are no bytes at all") }
        if let record = data.withUnsafeBytes({ CertificateRecord(parsing: $0) }) {
            return [Certificate(record: record)]
        }
        if isPEM(data) { return try reader.readPEM() }
        guard data.first == 0x30 else {
            throw .malformed(reason: "the \(data.count) bytes are neither DER nor PEM; -----BEGIN is missing")
        }
        if let certificates = try reader.readPKCS7(data) { return certificates }
        throw .malformed(reason: reader.nameOfOtherDER())
    }

    /// Reads what can be read of a PEM text and passes over the rest.
    static func readable(in data: Data) -> [Certificate] {
        defer { ERR_clear_error() }
        let reader = CertificateReader(data: data)
        guard let bio = reader.memoryBIO(data) else { return [] }
        defer { BIO_free(bio) }
        var found: [Certificate] = []
        while let (label, contents) = reader.nextBlock(of: bio) {
            found += (try? reader.certificates(label: label, contents: contents, block: 0)) ?? []
        }
        return found
    }

    // MARK: PEM

    /// Whether there is at least the beginning of a PEM block.
    static func isPEM(_ data: Data) -> Bool { data.firstRange(of: Array("-----BEGIN ".utf8)) != nil }

    /// Every block of a PEM text; at least one.
    static func blocks(in data: Data) throws(CertificateError) -> [(label: String, contents: Data)] {
        defer { ERR_clear_error() }
        return try CertificateReader(data: data).blocks()
    }

    private func blocks() throws(CertificateError) -> [(label: String, contents: Data)] {
        guard let bio = memoryBIO(data) else { throw .malformed(reason: "the input is too large") }
        defer { BIO_free(bio) }
        var found: [(label: String, contents: Data)] = []
        ERR_clear_error()
        while let block = nextBlock(of: bio) { found.append(block) }
        // No further start line is the regular end; everything else is a broken block.
        let code = ERR_peek_last_error()
        guard Int32(truncatingIfNeeded: code & UInt(ERR_REASON_MASK)) == PEM_R_NO_START_LINE else {
            throw .malformed(reason: "PEM block \(found.count + 1) is damaged (\(OpenSSLText.lastError()))")
        }
        if found.isEmpty { throw .malformed(reason: "the PEM text has no complete block in it") }
        return found
    }

    private func readPEM() throws(CertificateError) -> [Certificate] {
        var found: [Certificate] = []
        for (position, block) in try blocks().enumerated() {
            found += try certificates(label: block.label, contents: block.contents, block: position + 1)
        }
        return found
    }

    private func nextBlock(of bio: OpaquePointer) -> (label: String, contents: Data)? {
        var name: UnsafeMutablePointer<CChar>?
        var header: UnsafeMutablePointer<CChar>?
        var bytes: UnsafeMutablePointer<UInt8>?
        var count = 0
        guard PEM_read_bio(bio, &name, &header, &bytes, &count) == 1 else { return nil }
        defer {
            nm_openssl_free(name)
            nm_openssl_free(header)
            nm_openssl_free(bytes)
        }
        guard let name, let bytes else { return nil }
        return (String(cString: name), Data(bytes: bytes, count: count))
    }

    private func certificates(
        label: String,
        contents: Data,
        block: Int
    ) throws(CertificateError) -> [Certificate] {
        switch label {
        case "CERTIFICATE", "X509 CERTIFICATE":
            guard let record = contents.withUnsafeBytes({ CertificateRecord(parsing: $0) }) else {
                let parserSays = OpenSSLText.lastError()
                throw .malformed(reason: "PEM block \(block) is not exactly one certificate (\(parserSays))")
            }
            return [Certificate(record: record)]
        case "PKCS7", "CMS", "PKCS #7 SIGNED DATA":
            if let certificates = try readPKCS7(contents) { return certificates }
            throw .malformed(reason: "PEM block \(block) is not PKCS#7 signed data")
        case "TRUSTED CERTIFICATE":
            throw .malformed(
                reason: """
                    PEM block \(block) is an OpenSSL trusted certificate, whose trust settings would be lost; \
                    convert it with: openssl x509 -in FILE -out FILE.pem
                    """
            )
        case let key where key.hasSuffix("PRIVATE KEY"):
            throw .malformed(reason: privateKeyReason("PEM block \(block)"))
        case "PUBLIC KEY", "RSA PUBLIC KEY":
            throw .malformed(
                reason: "PEM block \(block) is a public key; pin it with a PublicKeyPin instead"
            )
        default:
            throw .malformed(
                reason: "PEM block \(block) is a \(OpenSSLText.printable(label.utf8)), not a certificate"
            )
        }
    }

    // MARK: DER

    private func readPKCS7(_ der: Data) throws(CertificateError) -> [Certificate]? {
        OpenSSLLibrary.prepare()
        let records: [CertificateRecord]? = der.withUnsafeBytes { bytes -> [CertificateRecord]? in
            var cursor = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
            let start = cursor
            guard let start, let message = d2i_PKCS7(nil, &cursor, bytes.count) else { return nil }
            defer { PKCS7_free(message) }
            guard let end = cursor, end - start == bytes.count else { return nil }
            let stack = nm_pkcs7_certificates(message)
            var found: [CertificateRecord] = []
            for index in 0..<nm_sk_x509_num(stack) {
                // One that was passed over would be a lost pin.
                guard let x509 = nm_sk_x509_value(stack, index),
                    let record = CertificateRecord(retaining: x509)
                else { return nil }
                found.append(record)
            }
            return found
        }
        guard let records else { return nil }
        if records.isEmpty { throw .malformed(reason: "the PKCS#7 has no certificate in it") }
        return records.map { Certificate(record: $0) }
    }

    /// Only called for bytes that start like a DER sequence and are no certificate.
    private func nameOfOtherDER() -> String {
        data.withUnsafeBytes { bytes -> String in
            let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
            var cursor = start
            if let key = d2i_AutoPrivateKey(nil, &cursor, bytes.count) {
                EVP_PKEY_free(key)
                return privateKeyReason("it")
            }
            cursor = start
            if let bundle = d2i_PKCS12(nil, &cursor, bytes.count) {
                PKCS12_free(bundle)
                return "it is a PKCS#12 file, which is for a private key; export its certificates as PEM"
            }
            cursor = start
            if let encrypted = d2i_X509_SIG(nil, &cursor, bytes.count) {
                X509_SIG_free(encrypted)
                return privateKeyReason("it")
            }
            cursor = start
            if let certificate = d2i_X509(nil, &cursor, bytes.count) {
                X509_free(certificate)
                return "something stands behind the DER certificate; one file in DER holds one certificate"
            }
            return "the \(bytes.count) bytes are no DER certificate (\(OpenSSLText.lastError()))"
        }
    }

    private func privateKeyReason(_ what: String) -> String {
        """
        \(what) is a private key, which does not belong here: give the certificate alone, and if the key was \
        shipped by mistake, replace it
        """
    }

    private func memoryBIO(_ data: Data) -> OpaquePointer? {
        guard let count = Int32(exactly: data.count), let bio = BIO_new(BIO_s_mem()) else { return nil }
        let written = data.withUnsafeBytes { BIO_write(bio, $0.baseAddress, count) }
        guard written == count else {
            BIO_free(bio)
            return nil
        }
        return bio
    }
}
