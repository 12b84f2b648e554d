public import HTTPMessage

/// How a download treats its file.
public struct DownloadOptions: Sendable {
    /// What happens when something of the target's name is there already.
    public enum ExistingFile: Sendable, Hashable {
        /// The new file takes its place in one step, once it is complete; a symbolic link is replaced, not followed.
        ///
        /// A failed download leaves the old file as it was. A folder is never replaced.
        case replace
        /// The download fails, before any traffic if possible, as ``RequestError/Kind/file(_:)``.
        case fail
    }

    /// What happens when something of the target's name is there already; ``ExistingFile/replace`` by default.
    public var existingFile = ExistingFile.replace
    /// Whether folders of the path that are missing are made; false by default.
    public var createsFolders = false
    /// Whether a download that broke off is continued by the next one to the same path; false by default.
    ///
    /// What has arrived is then kept beside the target when a download fails or is cancelled, as `NAME.download`, and
    /// what identifies it as `NAME.download.json`: a digest of the URL, the entity tag and the dates. The next call with
    /// the same URL asks for the rest (`Range`, `If-Range`; RFC 9110, sections 13.1.5 and 14.2). It is kept only if the
    /// server sends a strong entity tag, or a modification date that is older than its answer. The content is asked for
    /// without a coding, as ranges of encoded content cannot be joined.
    public var resumes = false
    /// The SHA-256 that the content must have, in hexadecimal digits of any case; nil, the default, for any.
    ///
    /// Another content fails the download as ``RequestError/Kind/file(_:)`` and is not kept.
    public var sha256: String?
    /// Judges the complete file before it gets its name; what it throws is the call's error, and the file is not kept.
    ///
    /// It is given the temporary path and runs on Swift's own threads.
    public var verify: (@Sendable (_ path: String) async throws -> Void)?
    /// The most bytes that the file may have; nil, the default, for no limit.
    ///
    /// More fails the download as ``RequestError/Kind/bodyTooLarge``.
    public var sizeLimit: Int64?
    /// The status codes whose content is what was asked for; 200…299 by default.
    public var acceptableStatusCodes = Set(200..<300)

    /// Makes options of the defaults.
    public init() {}
}

/// A file that was downloaded.
public struct DownloadedFile: Sendable {
    /// Where it is: the target as it was given.
    public var path: String
    /// Its length in bytes.
    public var size: Int64
    /// How many of its bytes an earlier download had brought; 0 unless it was resumed.
    public var resumedFrom: Int64
    /// The head of the final response.
    public var head: HTTPResponse.Head
}
