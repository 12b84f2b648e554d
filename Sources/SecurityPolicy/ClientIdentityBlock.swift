import COpenSSL

/// One block of a PEM text, overwritten when it goes.
struct ClientIdentityBlock: ~Copyable {
    /// What stands behind BEGIN.
    let label: String
    /// The lines before the base64, which tell of OpenSSL's own encryption; empty for most.
    let header: String
    /// The decoded content.
    var contents: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: bytes, count: count) }

    private let bytes: UnsafeMutablePointer<UInt8>
    private let count: Int

    /// Reads the next block; nil at the end and when it is damaged.
    init?(nextIn bio: OpaquePointer) {
        var name: UnsafeMutablePointer<CChar>?
        var header: UnsafeMutablePointer<CChar>?
        var bytes: UnsafeMutablePointer<UInt8>?
        var count = 0
        guard PEM_read_bio(bio, &name, &header, &bytes, &count) == 1 else { return nil }
        defer {
            CRYPTO_free(name, nil, 0)
            CRYPTO_free(header, nil, 0)
        }
        guard let name, let header, let bytes else {
            CRYPTO_clear_free(bytes, count, nil, 0)
            return nil
        }
        label = String(cString: name)
        self.header = String(cString: header)
        self.bytes = bytes
        self.count = count
    }

    deinit { CRYPTO_clear_free(bytes, count, nil, 0) }
}
