import FoundationEssentials

/// Why a policy file cannot be used.
public struct PolicyFileError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The file.
    public var path: String
    /// The line, from 1; nil if the whole file is meant.
    public var line: Int?
    /// The place in the file's structure; empty for the whole.
    ///
    /// An example is `hosts."api.example.com".pinningMode`.
    public var key: String
    /// What is wrong.
    public var reason: String

    /// `FILE:LINE: KEY: reason`, as compilers write it.
    public var description: String {
        let place = line.map { "\(path):\($0)" } ?? path
        return "\(place): " + (key.isEmpty ? "" : "\(key): ") + reason
    }
}

extension HostPolicies {
    /// Reads a policy file.
    ///
    /// The file is JSON as docs/policy-file.md describes it. Names in `pinnedCertificateFiles` are relative to the
    /// file's folder. Reload by loading again and replacing the value; a file that cannot be read leaves the old
    /// value in place.
    ///
    /// - Parameter path: a regular file of at most 16 MiB.
    /// - Returns: the policies.
    /// - Throws: ``PolicyFileError`` with line and key.
    public static func load(contentsOf path: String) throws(PolicyFileError) -> HostPolicies {
        let data: Data
        do {
            data = try Certificate.contents(of: path)
        } catch {
            throw PolicyFileError(path: path, line: nil, key: "", reason: "\(error)")
        }
        let outline: JSONOutline
        do {
            outline = try JSONOutline(Array(data))
        } catch {
            throw PolicyFileError(path: path, line: error.line, key: error.key, reason: error.reason)
        }
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(
            separator: "/"
        )
        if let key = CodingUserInfoKey.certificateFolder {
            decoder.userInfo[key] = folder.isEmpty ? (path.hasPrefix("/") ? "/" : ".") : folder
        }
        do {
            let policies = try decoder.decode(HostPolicies.self, from: data)
            try policies.checkConfigurations(path, outline)
            return policies
        } catch let error as PolicyFileError {
            throw error
        } catch {
            throw PolicyFileError(error, path: path, outline: outline)
        }
    }

    /// A file is the place to hear of a policy that would refuse everybody.
    private func checkConfigurations(_ path: String, _ outline: JSONOutline) throws(PolicyFileError) {
        for (pattern, policy) in policies.sorted(by: { $0.key.description < $1.key.description }) {
            do {
                try policy.checkConfiguration()
            } catch {
                let key = "hosts.\"\(pattern)\""
                let line = outline.lines[key] ?? outline.lines["hosts"]
                throw PolicyFileError(path: path, line: line, key: key, reason: error.description)
            }
        }
        do {
            try fallback.checkConfiguration()
        } catch {
            let line = outline.lines["fallback"]
            throw PolicyFileError(path: path, line: line, key: "fallback", reason: error.description)
        }
    }
}

extension PolicyFileError {
    fileprivate init(_ error: any Error, path: String, outline: JSONOutline) {
        var keys: [any CodingKey] = []
        var reason = "\(error)"
        switch error as? DecodingError {
        case .keyNotFound(let key, let context):
            keys = context.codingPath
            reason = "the field \(key.stringValue) is missing"
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
            keys = context.codingPath
            reason = context.debugDescription
        default: break
        }
        var line: Int?
        for count in stride(from: keys.count, through: 0, by: -1) where line == nil {
            line = outline.lines[JSONOutline.pathText(Array(keys.prefix(count)))]
        }
        self.init(path: path, line: line, key: JSONOutline.pathText(keys), reason: reason)
    }
}

extension CodingUserInfoKey {
    /// The folder in which a policy's certificate files are, if it is read from a file.
    static let certificateFolder = CodingUserInfoKey(rawValue: "SecurityPolicy.certificateFolder")
}
