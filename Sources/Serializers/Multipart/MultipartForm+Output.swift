public import FoundationEssentials
public import HTTPMessage

extension MultipartForm {
    /// The value of the `Content-Type` field that goes with the body.
    public var contentType: String {
        let value = boundary.isHTTPToken ? boundary : "\"\(boundary)\""
        return "multipart/form-data; boundary=\(value)"
    }

    /// The exact number of bytes of the body; nil when it is beyond 64 bits.
    public var contentLength: Int64? {
        var sum = Int64(Self.closing(boundary: boundary, isEmpty: isEmpty).utf8.count)
        for (index, part) in parts.enumerated() {
            let opening = Self.opening(of: part, boundary: boundary, isFirst: index == 0)
            for length in [Int64(opening.utf8.count), part.length] {
                let (partial, overflow) = sum.addingReportingOverflow(length)
                if overflow { return nil }
                sum = partial
            }
        }
        return sum
    }

    /// The form as the content of a request, read part by part while it is sent.
    ///
    /// It can be sent again unless the form has a stream. Files and streams whose length is not the one that
    /// was promised fail the request while it is sent.
    public func body() -> HTTPBody {
        let pieces: HTTPBody.Pieces = { self.producer() }
        return HTTPBody(
            storage: parts.allSatisfy(\.isReplayable)
                ? .replayableStream(length: contentLength, pieces)
                : .stream(length: contentLength, pieces)
        )
    }

    /// Makes the form the content of a request and sets the `Content-Type` that goes with it.
    ///
    /// A form without parts leaves the request as it is.
    /// - Parameter request: The request; its method is neither GET nor HEAD.
    /// - Throws: ``SerializationError/invalidRequest(_:)`` for those methods, and for a part whose content type
    ///   may not stand in a header.
    public func serialize(into request: inout HTTPRequest) throws(SerializationError) {
        guard !isEmpty else { return }
        for method in [HTTPMethod.get, .head] where request.method == method {
            throw .invalidRequest("a form cannot be sent with \(method): use POST, PUT or PATCH")
        }
        try validate()
        request.headers["Content-Type"] = contentType
        request.body = body()
    }

    /// The whole form in memory.
    ///
    /// - Parameter limit: The most bytes that are held: 10 000 000 by default.
    /// - Returns: The body, from the first boundary to the last.
    /// - Throws: ``SerializationError/tooLarge(limit:)``, what is wrong with a file or a stream, or what a
    ///   stream throws.
    public func encoded(limit: Int = 10_000_000) async throws -> Data {
        if let contentLength, contentLength > limit { throw SerializationError.tooLarge(limit: limit) }
        var whole = Data()
        let producer = producer()
        while let piece = try await producer.next() {
            guard whole.count + piece.count <= limit else { throw SerializationError.tooLarge(limit: limit) }
            whole.append(piece)
        }
        return whole
    }

    /// Writes the form into a new file, in pieces of at most 64 KiB.
    ///
    /// A file that is there already is left alone; one that could not be finished is removed.
    /// - Parameter path: The file to make, readable and writable by its owner only.
    /// - Throws: ``SerializationError/file(path:reason:)`` when it is there or cannot be written; what is wrong
    ///   with a file or a stream of the form; what a stream throws.
    public func write(toFile path: String) async throws {
        let writer = try FileWriter(creating: path)
        do {
            let producer = producer()
            while let piece = try await producer.next() { try writer.write(piece) }
            try writer.finish()
        } catch {
            writer.discard()
            throw error
        }
    }

    func validate() throws(SerializationError) {
        for (index, part) in parts.enumerated() where !part.hasValidType {
            throw .invalidRequest("the content type of part \(index + 1) of the form holds CR, LF or NUL")
        }
    }

    /// One pass over the form.
    ///
    /// - Parameter pieceLimit: The most bytes in a piece. 64 KiB is what libcurl takes at once at most.
    /// - Returns: The source of the pieces, at its start.
    func producer(pieceLimit: Int = 65_536) -> HTTPBody.Producer {
        let source = MultipartProducer(form: self, pieceLimit: pieceLimit)
        return HTTPBody.Producer { try await source.next() }
    }

    /// What stands before the content of a part.
    static func opening(of part: MultipartPart, boundary: String, isFirst: Bool) -> String {
        (isFirst ? "--" : "\r\n--") + boundary + "\r\n" + part.header
    }

    /// What stands behind the content of the last part; nothing when there is no part.
    static func closing(boundary: String, isEmpty: Bool) -> String {
        isEmpty ? "" : "\r\n--" + boundary + "--\r\n"
    }
}
