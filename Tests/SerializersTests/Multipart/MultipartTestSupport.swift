import FoundationEssentials
import HTTPMessage
import Testing

@testable import Serializers

/// Calls a function with a directory of its own, which is removed afterwards.
func withTemporaryDirectory<R>(_ body: (URL) async throws -> R) async throws -> R {
    let directory = FileManager.default.temporaryDirectory.appending(path: "form-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    return try await body(directory)
}

/// Bytes that look like no text and no boundary.
func binary(_ count: Int, seed: UInt8 = 1) -> Data {
    Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 131 &+ $0 >> 8) ^ seed })
}

/// A sequence of pieces that can be iterated any number of times.
struct Pieces: AsyncSequence, Sendable {
    typealias Element = Data
    let pieces: [Data]

    func makeAsyncIterator() -> Iterator { Iterator(pieces: pieces[...]) }

    struct Iterator: AsyncIteratorProtocol {
        var pieces: ArraySlice<Data>
        mutating func next() async throws -> Data? { pieces.popFirst() }
    }
}

extension HTTPBody.Producer {
    /// All pieces, as they come.
    func pieces() async throws -> [Data] {
        var pieces: [Data] = []
        while let piece = try await next() { pieces.append(piece) }
        return pieces
    }
}

extension [Data] {
    var joined: Data { reduce(into: Data()) { $0 += $1 } }
}

/// The parts of a multipart body, read by the rules of RFC 2046.
struct MultipartReader {
    struct Part: Equatable {
        var headers: [String]
        var body: Data
    }

    struct Malformed: Error {}

    /// Reads a body; anything before the first or behind the last boundary is an error.
    static func parts(of body: Data, boundary: String) throws -> [Part] {
        var rest = Data(body)
        let first = Data("--\(boundary)\r\n".utf8)
        guard rest.starts(with: first) else { throw Malformed() }
        rest = rest.dropFirst(first.count)
        var parts: [Part] = []
        let delimiter = Data("\r\n--\(boundary)".utf8)
        while true {
            guard let headerEnd = rest.firstRange(of: Data("\r\n\r\n".utf8)),
                let end = rest[headerEnd.upperBound...].firstRange(of: delimiter)
            else { throw Malformed() }
            let lines = String(decoding: rest[..<headerEnd.lowerBound], as: UTF8.self)
                .components(separatedBy: "\r\n")
            parts.append(Part(headers: lines, body: Data(rest[headerEnd.upperBound..<end.lowerBound])))
            rest = rest[end.upperBound...]
            if rest.elementsEqual("--\r\n".utf8) { return parts }
            guard rest.starts(with: "\r\n".utf8) else { throw Malformed() }
            rest = rest.dropFirst(2)
        }
    }
}

extension MultipartForm {
    /// What a server reads in the encoded form.
    func readParts() async throws -> [MultipartReader.Part] {
        try MultipartReader.parts(of: try await encoded(), boundary: boundary)
    }
}

extension MultipartReader.Part {
    init(_ headers: String..., body: String) {
        self.init(headers: headers, body: Data(body.utf8))
    }
}
