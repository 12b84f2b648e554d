import FoundationEssentials
import HTTPMessage

/// Yields the bytes of a form, in pieces of a limited size.
///
/// Small parts share a piece; what stands before a stream is handed out before the stream is asked for bytes.
actor MultipartProducer {
    private let form: MultipartForm
    private let pieceLimit: Int
    private var nextPart = 0
    private var current = Source.none
    private var isFinished = false
    /// Bytes that are ready: a piece at most, and the lines that stand behind it.
    private var ready = Data()

    /// What the part that is being sent is read from, with the number of bytes that are still to come.
    private enum Source {
        case none
        case data(Data)
        case file(FileReader, left: Int64)
        /// What the stream yielded last is handed out before it is asked again.
        case stream(HTTPBody.Producer, left: Int64, yielded: Data)
    }

    init(form: MultipartForm, pieceLimit: Int) {
        self.form = form
        self.pieceLimit = max(1, pieceLimit)
    }

    /// The next piece; nil behind the last boundary.
    func next() async throws -> Data? {
        while ready.count < pieceLimit {
            if case .stream(_, _, yielded: let bytes) = current, bytes.isEmpty, !ready.isEmpty { break }
            guard try await fill() else { break }
        }
        guard !ready.isEmpty else { return nil }
        guard ready.count > pieceLimit else {
            defer { ready = Data() }
            return ready
        }
        let piece = Data(ready.prefix(pieceLimit))
        ready = Data(ready.dropFirst(pieceLimit))
        return piece
    }

    /// Takes one step and adds what it yields to the bytes that are ready; false at the end of the form.
    private func fill() async throws -> Bool {
        switch current {
        case .none: return try advance()
        case .data(let data):
            let rest = take(from: data)
            current = rest.isEmpty ? .none : .data(rest)
        case .file(let reader, let left): try fill(from: reader, left: left)
        case .stream(let producer, let left, let yielded) where yielded.isEmpty:
            try await draw(from: producer, left: left)
        case .stream(let producer, let left, let yielded):
            current = .stream(producer, left: left, yielded: take(from: yielded))
        }
        return true
    }

    /// Makes as much ready as a piece has room for, and returns the rest.
    private func take(from data: Data) -> Data {
        let room = pieceLimit - ready.count
        makeReady(data.prefix(room))
        return data.dropFirst(room)
    }

    /// Adds bytes to those that are ready, without a copy when they are the first.
    private func makeReady(_ bytes: Data) {
        if ready.isEmpty { ready = bytes } else { ready += bytes }
    }

    /// Goes on to the next part, or to the end.
    private func advance() throws -> Bool {
        guard !isFinished else { return false }
        if nextPart == 0 { try form.validate() }
        guard nextPart < form.parts.count else {
            isFinished = true
            ready += MultipartForm.closing(boundary: form.boundary, isEmpty: form.isEmpty).utf8
            return true
        }
        let part = form.parts[nextPart]
        ready += MultipartForm.opening(of: part, boundary: form.boundary, isFirst: nextPart == 0).utf8
        nextPart += 1
        switch part.content {
        case .data(let data): current = .data(data)
        case .file(let path, let length):
            let reader = try FileReader(path: path)
            guard reader.length == length else { throw reader.lengthChanged }
            current = .file(reader, left: length)
        case .stream(let length, let pieces): current = .stream(pieces(), left: length, yielded: Data())
        }
        return true
    }

    private func fill(from reader: FileReader, left: Int64) throws {
        // At the end one byte more is asked for: there must be none.
        let wanted = left == 0 ? 1 : Int(min(Int64(pieceLimit - ready.count), left))
        let bytes = try reader.read(upTo: wanted)
        if left == 0, bytes.isEmpty {
            current = .none
            return
        }
        guard left > 0, !bytes.isEmpty else { throw reader.lengthChanged }
        makeReady(bytes)
        current = .file(reader, left: left - Int64(bytes.count))
    }

    private func draw(from producer: HTTPBody.Producer, left: Int64) async throws {
        guard let bytes = try await producer.next() else {
            guard left == 0 else { throw streamError("\(left) bytes fewer") }
            current = .none
            return
        }
        guard Int64(bytes.count) <= left else { throw streamError("more bytes") }
        current = .stream(producer, left: left - Int64(bytes.count), yielded: bytes)
    }

    private func streamError(_ difference: String) -> SerializationError {
        .invalidRequest(
            "the stream in part \(nextPart) of the form yielded \(difference) than its declared length: "
                + "declare the exact number"
        )
    }
}
