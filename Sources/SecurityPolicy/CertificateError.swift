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
            return """
                No certificate named "\(name)". Tried: \(Self.places(searched)). Put the file (.cer, .crt, .der or .pem) into one \
                of the directories, or correct the name.
                """
        case .unreadable(let path, let reason):
            return "Cannot read \(path): \(reason). Check the path and its permissions."
        case .malformed(let reason):
            return "Not a usable certificate: \(reason)."
        }
    }

    /// Paths in a text: those that differ in nothing but their endings are one, `server.{cer,crt}`.
    package static func places(_ paths: [String]) -> String {
        var stems: [(stem: Substring, endings: [Substring])] = []
        for path in paths {
            let name = path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex
            let dot = path[name...].lastIndex(of: ".")
            let stem = path[..<(dot ?? path.endIndex)]
            let ending = dot.map { path[path.index(after: $0)...] }
            if let ending, let last = stems.last, last.stem == stem, !last.endings.isEmpty {
                stems[stems.count - 1].endings.append(ending)
            } else {
                stems.append((stem, ending.map { [$0] } ?? []))
            }
        }
        guard !stems.isEmpty else { return "no directory was given" }
        return stems.map { stem, endings in
            switch endings.count {
            case 0: String(stem)
            case 1: "\(stem).\(endings[0])"
            default: "\(stem).{\(endings.joined(separator: ","))}"
            }
        }.joined(separator: ", ")
    }
}
