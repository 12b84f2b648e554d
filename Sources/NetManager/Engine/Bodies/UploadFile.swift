import FoundationEssentials
import Glibc

/// A file that is being sent, read front to back by one task at a time.
final class UploadFile: Sendable {
    /// Bytes of one read: as many as the channel holds, so that a read fills it.
    private static let pieceSize = 256 << 10

    let length: Int64
    private let descriptor: Int32
    private let path: String

    init(path: String) throws(TransferFailure) {
        self.path = path
        // Without O_NONBLOCK a named pipe would hold the caller until somebody writes to it.
        descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw .file("\(path): \(Self.reason())") }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw .file("\(path): no regular file")
        }
        length = Int64(status.st_size)
    }

    deinit {
        close(descriptor)
    }

    /// The next piece; nil at the end.
    func read() throws(TransferFailure) -> Data? {
        var piece = Data(count: Self.pieceSize)
        let count = piece.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
        guard count >= 0 else { throw .file("\(path): \(Self.reason())") }
        return count == 0 ? nil : piece.prefix(count)
    }

    private static func reason() -> String {
        String(cString: strerror(errno))
    }
}
