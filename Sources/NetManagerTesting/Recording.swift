public import FoundationEssentials
public import HTTPMessage
import NetManager

/// Exchanges with servers, to be kept in a file and answered from it later.
///
/// A ``RecordingTransport`` makes one, a ``ReplayTransport`` answers from one.
public struct Recording: Sendable {
    /// The exchanges in the order in which they began to be answered.
    public var exchanges: [Exchange] = []

    /// Makes an empty recording.
    public init() {}

    /// One request and what became of it.
    public struct Exchange: Sendable {
        /// The request's method.
        public var method: HTTPMethod
        /// The request's URL, as text.
        public var url: String
        /// The request's header fields, as the manager gave them to the transport.
        public var requestHeaders: HTTPHeaders
        /// The request's content; empty without.
        public var requestBody: Data
        /// What became of it.
        public var outcome: Outcome

        /// Makes an exchange by hand.
        public init(
            method: HTTPMethod = .get,
            url: String,
            requestHeaders: HTTPHeaders = [:],
            requestBody: Data = Data(),
            outcome: Outcome
        ) {
            self.method = method
            self.url = url
            self.requestHeaders = requestHeaders
            self.requestBody = requestBody
            self.outcome = outcome
        }
    }

    /// What became of a request.
    public enum Outcome: Sendable {
        /// A response: its head, and the content after decoding from `Content-Encoding`.
        case response(status: Int, headers: HTTPHeaders, body: Data, version: HTTPVersion)
        /// A failure of the connection, by the word of ``RequestError/label``.
        case failure(label: String)
    }

    /// The file cannot be read, or it or an exchange in it is not what this library writes.
    public struct Malformed: Error, Sendable, CustomStringConvertible {
        /// What is wrong, and where.
        public let description: String
    }
}

extension Recording {
    /// Reads a recording from a file.
    /// - Throws: ``Malformed`` for a file that cannot be read, or is no recording.
    public init(contentsOf path: String) throws {
        let isThere = FileManager.default.fileExists(atPath: path)
        guard let data = FileManager.default.contents(atPath: path) else {
            let reason = isThere ? "it cannot be read" : "there is no such file. Record it first"
            throw Malformed(description: "No recording at \(path): \(reason).")
        }
        do {
            try self.init(parsing: data)
        } catch let error as Malformed {
            throw Malformed(description: "\(path): \(error)")
        }
    }

    /// Writes the recording into a file, whole or not at all: JSON, to be read and to be committed beside the tests.
    ///
    /// Folders that are missing are made, lest what was recorded is lost.
    /// - Throws: Foundation's error when it cannot be written.
    public func write(to path: String) throws {
        let file = URL(filePath: path)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(),
            withIntermediateDirectories: true
        )
        try data().write(to: file, options: .atomic)
    }
}
