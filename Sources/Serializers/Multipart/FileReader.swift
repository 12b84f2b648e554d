package import FoundationEssentials

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A regular file that is open for reading, from its start to its end.
///
/// It is used by one owner at a time and closed with its last reference. Reads block for as long as the disk
/// takes.
package final class FileReader {
    package let path: String
    /// The file's length in bytes when it was opened.
    package let length: Int64
    private let descriptor: Int32

    /// Opens a file.
    ///
    /// - Parameter path: The path, absolute or relative to the working directory.
    /// - Throws: ``SerializationError/file(path:reason:)`` when the file is missing, unreadable or not regular.
    package init(path: String) throws(SerializationError) {
        guard !path.isEmpty else { throw .file(path: path, reason: "the path is empty") }
        guard !path.utf8.contains(0) else { throw .file(path: path, reason: "the path holds NUL") }
        // O_NONBLOCK: opening a pipe that nobody writes to would wait for ever.
        let opened = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard opened >= 0 else { throw Self.openError(errno, path: path) }
        var information = stat()
        guard fstat(opened, &information) == 0 else {
            let reason = reasonText(errno)
            close(opened)
            throw .file(path: path, reason: reason)
        }
        let kind = information.st_mode & S_IFMT
        guard kind == S_IFREG else {
            close(opened)
            throw .file(path: path, reason: kind == S_IFDIR ? "it is a directory" : "it is no regular file")
        }
        self.path = path
        length = Int64(information.st_size)
        descriptor = opened
    }

    deinit {
        close(descriptor)
    }

    /// The next bytes; empty at the end of the file.
    ///
    /// - Parameter count: The most bytes to read, at least 1.
    /// - Returns: Between one and that many bytes, or none at the end.
    /// - Throws: ``SerializationError/file(path:reason:)`` when the file cannot be read.
    package func read(upTo count: Int) throws(SerializationError) -> Data {
        var bytes = Data(count: count)
        while true {
            let received = bytes.withUnsafeMutableBytes { readBytes(descriptor, $0) }
            if received >= 0 { return bytes.prefix(received) }
            guard errno == EINTR else { throw .file(path: path, reason: reasonText(errno)) }
        }
    }

    /// The error of a file that is longer or shorter than when the request was made.
    var lengthChanged: SerializationError {
        .file(
            path: path,
            reason: "its length changed after the request was made with it: write it to its end before"
        )
    }

    private static func openError(_ code: Int32, path: String) -> SerializationError {
        // A URL in place of a path is a common slip.
        let isURL = code == ENOENT && path.contains("://")
        return .file(path: path, reason: isURL ? "it is a URL: give the path of a file" : reasonText(code))
    }
}

/// `read`, under a name that a method called `read` does not hide.
private func readBytes(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
    read(descriptor, buffer.baseAddress, buffer.count)
}

/// The system's words for an error number.
func reasonText(_ code: Int32) -> String {
    String(cString: strerror(code))
}
