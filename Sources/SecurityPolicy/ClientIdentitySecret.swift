import COpenSSL
import FoundationEssentials

/// Bytes that nobody may find in freed memory: overwritten when the last reference goes.
final class ClientIdentitySecret: Sendable {
    /// The bytes; valid as long as this object lives.
    ///
    /// `nonisolated(unsafe)` is true because they are written before `init` returns and only read afterwards.
    nonisolated(unsafe) let bytes: UnsafeRawBufferPointer

    /// Copies bytes; wiping the original is for the caller.
    init(copying source: UnsafeRawBufferPointer) {
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: source.count, alignment: 1)
        room.copyMemory(from: source)
        bytes = UnsafeRawBufferPointer(room)
    }

    deinit {
        let room = UnsafeMutableRawBufferPointer(mutating: bytes)
        OPENSSL_cleanse(room.baseAddress, room.count)
        room.deallocate()
    }

    /// Overwrites data that nobody else holds; otherwise it would only change a copy.
    static func wipe(_ data: inout Data) {
        data.withUnsafeMutableBytes { OPENSSL_cleanse($0.baseAddress, $0.count) }
    }
}
