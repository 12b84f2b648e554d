public import FoundationEssentials

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

extension Certificate {
    /// The file name endings that are looked for, in this order.
    private static let fileEndings = [".cer", ".crt", ".der", ".pem"]

    /// Larger files are refused: the list of every public CA is less than 1 MiB.
    private static let largestFile = 16 << 20

    /// Reads every certificate in some bytes, whatever their form.
    ///
    /// - Parameter data: DER (one certificate), PEM (one or many, text between the blocks ignored) or PKCS#7
    ///   signed data, DER or PEM.
    /// - Returns: the certificates in their order, at least one.
    /// - Throws: ``CertificateError/malformed(reason:)`` if anything in it is not a certificate, private keys
    ///   first of all: nothing is skipped, since a skipped certificate would be a lost pin.
    public static func certificates(in data: Data) throws(CertificateError) -> [Certificate] {
        try CertificateReader.certificates(in: data)
    }

    /// Reads a file.
    ///
    /// - Parameter path: a regular file of at most 16 MiB in any form that ``certificates(in:)`` reads.
    /// - Returns: the certificates in their order, at least one.
    /// - Throws: ``CertificateError/unreadable(path:reason:)``, or ``CertificateError/malformed(reason:)`` with
    ///   the path in its reason.
    public static func load(contentsOf path: String) throws(CertificateError) -> [Certificate] {
        let data = try contents(of: path)
        do {
            return try certificates(in: data)
        } catch .malformed(let reason) {
            throw .malformed(reason: "\(path): \(reason)")
        }
    }

    /// Reads every certificate file of a folder, not of the folders in it.
    ///
    /// - Parameter directory: files that end in .cer, .crt, .der or .pem, in any case, are read in the order of
    ///   their names; others are ignored.
    /// - Returns: the certificates; empty if there is no such file.
    /// - Throws: the first file's error. An unreadable file is never skipped.
    public static func load(allIn directory: String) throws(CertificateError) -> [Certificate] {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: directory)
        } catch {
            throw .unreadable(path: directory, reason: "it is no directory that can be listed (\(error))")
        }
        var found: [Certificate] = []
        for name in names.sorted() where fileEndings.contains(where: { name.lowercased().hasSuffix($0) }) {
            let path = joined(directory, name)
            var isDirectory = false
            if FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), isDirectory {
                continue
            }
            found += try load(contentsOf: path)
        }
        return found
    }

    /// Finds a certificate file by name, as an app bundle would.
    ///
    /// - Parameters:
    ///   - name: a plain file name, with or without .cer, .crt, .der or .pem. A name with a slash in it, `.` and
    ///     `..` are refused, so no name leads out of the directories.
    ///   - directories: searched in their order; the first file wins.
    /// - Returns: the file's certificates, at least one.
    /// - Throws: ``CertificateError/notFound(name:searched:)`` with every path that was tried, or what is wrong
    ///   with the file that was found: it is not passed over for another one.
    public static func load(named name: String, in directories: [String]) throws(CertificateError)
        -> [Certificate]
    {
        let isPlain =
            !name.isEmpty && name != "." && name != ".."
            && name.utf8.allSatisfy { $0 != UInt8(ascii: "/") && $0 != 0 }
        guard isPlain else {
            throw .malformed(
                reason: """
                    "\(OpenSSLText.printable(name.utf8))" is not a plain file name; a certificate's name must not \
                    lead out of the directories that are searched
                    """
            )
        }
        let hasEnding = fileEndings.contains {
            name.lowercased().hasSuffix($0) && name.utf8.count > $0.utf8.count
        }
        let candidates = hasEnding ? [name] : fileEndings.map { name + $0 }
        var searched: [String] = []
        for directory in directories {
            for candidate in candidates {
                let path = joined(directory, candidate)
                if FileManager.default.fileExists(atPath: path) { return try load(contentsOf: path) }
                searched.append(path)
            }
        }
        throw .notFound(name: name, searched: searched)
    }

    /// The bytes of a regular file.
    static func contents(of path: String) throws(CertificateError) -> Data {
        guard !path.utf8.contains(0) else {
            throw .unreadable(path: "", reason: "there is a NUL in the path")
        }
        // Without O_NONBLOCK a named pipe would be waited for.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw .unreadable(path: path, reason: lastSystemError()) }
        defer { _ = close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            throw .unreadable(path: path, reason: lastSystemError())
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw .unreadable(path: path, reason: "it is not a regular file")
        }
        var data = Data()
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count == 0 { return data }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw .unreadable(path: path, reason: lastSystemError()) }
            data.append(contentsOf: buffer[..<count])
            guard data.count <= largestFile else {
                throw .unreadable(path: path, reason: "it is larger than 16 MiB")
            }
        }
    }

    private static func lastSystemError() -> String {
        switch errno {
        case ENOENT: "there is nothing at this path"
        case EACCES: "permission denied"
        case let code: "system error \(code)"
        }
    }

    private static func joined(_ directory: String, _ name: String) -> String {
        directory.hasSuffix("/") ? directory + name : "\(directory)/\(name)"
    }
}
