import FoundationEssentials

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A file that is made anew and written from its start to its end.
///
/// It is used by one owner at a time and closed with its last reference.
final class FileWriter {
    private let path: String
    private let descriptor: Int32
    private var isOpen = true

    /// Makes a file that only its owner may read and write.
    init(creating path: String) throws(SerializationError) {
        guard !path.utf8.contains(0) else { throw .file(path: path, reason: "the path holds NUL") }
        let opened = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard opened >= 0 else {
            let reason = errno == EEXIST ? "it exists already: remove it or name another" : reasonText(errno)
            throw .file(path: path, reason: reason)
        }
        self.path = path
        descriptor = opened
    }

    deinit {
        if isOpen { close(descriptor) }
    }

    func write(_ data: Data) throws(SerializationError) {
        var rest = data
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { writeBytes(descriptor, $0) }
            if written >= 0 {
                rest = rest.dropFirst(written)
            } else if errno != EINTR {
                throw .file(path: path, reason: reasonText(errno))
            }
        }
    }

    /// Closes the file; some file systems tell only now that they are full.
    func finish() throws(SerializationError) {
        isOpen = false
        guard close(descriptor) == 0 else { throw .file(path: path, reason: reasonText(errno)) }
    }

    /// Removes the file.
    func discard() {
        unlink(path)
    }
}

/// `write`, under a name that a method called `write` does not hide.
private func writeBytes(_ descriptor: Int32, _ buffer: UnsafeRawBufferPointer) -> Int {
    write(descriptor, buffer.baseAddress, buffer.count)
}
