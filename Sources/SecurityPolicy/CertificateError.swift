/// Why a certificate could not be had from bytes or from a file.
@nonexhaustive
public enum CertificateError: Error, Sendable, Hashable {
    /// No file of that name in any of the directories; `searched` are the paths that were tried.
    case notFound(name: String, searched: [String])
    /// The file or directory cannot be read.
    case unreadable(path: String, reason: String)
    /// The bytes are not what was expected; the reason says what they are and, for a file, its path.
    case malformed(reason: String)
}

extension CertificateError: CustomStringConvertible {
    /// What failed, where, and what to do.
    public var description: String {
        switch self {
        case .notFound(let name, let searched):
            let places = searched.isEmpty ? "no directory was given" : searched.joined(separator: ", ")
            return """
                No certificate named "\(name)". Tried: \(places). Put the file (.cer, .crt, .der or .pem) into one \
                of the directories, or correct the name.
                """
        case .unreadable(let path, let reason):
            return "Cannot read \(path): \(reason). Check the path and its permissions."
        case .malformed(let reason):
            return "Not a usable certificate: \(reason)."
        }
    }
}
