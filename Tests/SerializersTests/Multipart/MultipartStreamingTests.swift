import FoundationEssentials
import HTTPMessage
import Testing

@testable import Serializers

@Suite struct MultipartStreamingTests {
    static var unicorn: Data { binary(24_854) }
    static var rainbow: Data { binary(58_000, seed: 77) }

    /// A form of every kind of part, and the parts that must be read in it.
    static func mixedForm(in directory: URL) throws -> (MultipartForm, [Data]) {
        let file = directory.appending(path: "unicorn.png")
        try unicorn.write(to: file)
        var form = try MultipartForm(boundary: MultipartFramingTests.boundary)
        form.append(Data("Lorem ipsum.".utf8), name: "lorem")
        try form.appendFile(at: file.path(percentEncoded: false), name: "unicorn")
        form.appendStream(
            Pieces(pieces: [rainbow.prefix(1), Data(), rainbow.dropFirst()]),
            length: Int64(rainbow.count),
            name: "rainbow",
            fileName: "rainbow.jpg",
            mimeType: "image/jpeg"
        )
        form.append(Data(), name: "empty")
        return (form, [Data("Lorem ipsum.".utf8), unicorn, rainbow, Data()])
    }

    @Test func `case 394: data, file and stream come in order and as long as announced`() async throws {
        try await withTemporaryDirectory { directory in
            let (form, bodies) = try Self.mixedForm(in: directory)
            let encoded = try await form.encoded()
            let parts = try MultipartReader.parts(of: encoded, boundary: form.boundary)
            #expect(parts.map(\.body) == bodies)
            #expect(
                parts[1].headers == [
                    "Content-Disposition: form-data; name=\"unicorn\"; filename=\"unicorn.png\"",
                    "Content-Type: image/png",
                ]
            )
            #expect(
                parts[2].headers == [
                    "Content-Disposition: form-data; name=\"rainbow\"; filename=\"rainbow.jpg\"",
                    "Content-Type: image/jpeg",
                ]
            )
            #expect(form.contentLength == Int64(encoded.count))
        }
    }

    @Test(arguments: [7, 1024, 4096, 65_536, 1_000_000])
    func `case 385: the bytes are the same however small the pieces are`(limit: Int) async throws {
        try await withTemporaryDirectory { directory in
            let (form, _) = try Self.mixedForm(in: directory)
            let expected = try await form.encoded()
            let pieces = try await form.producer(pieceLimit: limit).pieces()
            #expect(pieces.joined == expected)
            #expect(pieces.allSatisfy { !$0.isEmpty && $0.count <= limit })
            #expect(expected.suffix(4).elementsEqual("--\r\n".utf8))
        }
    }

    @Test func `case 385: the bytes are the same one by one`() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.appending(path: "f").path(percentEncoded: false)
            try binary(700).write(to: URL(filePath: path))
            var form = MultipartForm()
            try form.appendFile(at: path, name: "f")
            form.append(binary(300), name: "d")
            let pieces = try await form.producer(pieceLimit: 1).pieces()
            #expect(pieces.allSatisfy { $0.count == 1 })
            #expect(try await pieces.joined == form.encoded())
        }
    }

    @Test(arguments: -20...5)
    func `report 25: the last boundary is complete just below and above a full buffer`(
        offset: Int
    ) async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.appending(path: "f").path(percentEncoded: false)
            try Data().write(to: URL(filePath: path))
            var empty = try MultipartForm(boundary: MultipartFramingTests.boundary)
            try empty.appendFile(at: path, name: "f")
            let overhead = try #require(empty.contentLength)
            try binary(32_768 + offset - Int(overhead)).write(to: URL(filePath: path))
            var form = try MultipartForm(boundary: MultipartFramingTests.boundary)
            try form.appendFile(at: path, name: "f")
            for limit in [32_768, 16_384, 1021] {
                let pieces = try await form.producer(pieceLimit: limit).pieces()
                #expect(pieces.reduce(0) { $0 + $1.count } == 32_768 + offset)
                #expect(form.contentLength == Int64(32_768 + offset))
                let end = Data("\r\n--\(form.boundary)--\r\n".utf8)
                #expect(pieces.joined.suffix(end.count) == end)
            }
        }
    }

    @Test func `case 392: a stream is a part`() async throws {
        var form = try MultipartForm(boundary: "Z")
        form.appendStream(
            Pieces(pieces: [Self.unicorn]),
            length: Int64(Self.unicorn.count),
            name: "unicorn",
            fileName: "unicorn.png",
            mimeType: "image/png"
        )
        let expected =
            Data(
                ("--Z\r\nContent-Disposition: form-data; name=\"unicorn\"; filename=\"unicorn.png\"\r\n"
                    + "Content-Type: image/png\r\n\r\n").utf8
            ) + Self.unicorn + Data("\r\n--Z--\r\n".utf8)
        #expect(try await form.encoded() == expected)
    }

    @Test(
        arguments: [(100, 50), (100, 99), (100, 0), (0, 1), (50, 100), (3, Int64.max), (1, -5)]
            as [(Int, Int64)]
    )
    func `case 398, report 27: a stream of another length than declared is an error`(
        actual: Int,
        declared: Int64
    ) async throws {
        var form = MultipartForm()
        form.appendStream(
            Pieces(pieces: [binary(actual)]),
            length: declared,
            name: "s",
            fileName: "s",
            mimeType: "text/plain"
        )
        let announced = form.contentLength
        let producer = form.producer()
        var received: Int64 = 0
        let error = await #expect(throws: SerializationError.self) {
            while let piece = try await producer.next() { received += Int64(piece.count) }
        }
        guard case .invalidRequest(let text)? = error else {
            Issue.record("not the error of a stream: \(String(describing: error))")
            return
        }
        #expect(text.contains("part 1"))
        #expect(received < announced ?? .max)
    }

    @Test func `an error of a stream comes out as it is`() async throws {
        struct Broken: Error {}
        var form = MultipartForm()
        let stream = AsyncThrowingStream<Data, any Error> { $0.finish(throwing: Broken()) }
        form.appendStream(stream, length: 5, name: "s", fileName: "s", mimeType: "text/plain")
        await #expect(throws: Broken.self) { try await form.encoded() }
    }

    @Test func `what stands before a stream is handed out before the stream is asked`() async throws {
        let (stream, continuation) = AsyncStream<Data>.makeStream()
        var form = MultipartForm()
        form.appendStream(stream, length: 2, name: "s", fileName: "s", mimeType: "text/plain")
        let producer = form.producer()
        let head = try #require(try await producer.next())
        #expect(head.suffix(4).elementsEqual("\r\n\r\n".utf8))
        continuation.yield(Data("ab".utf8))
        continuation.finish()
        #expect(try await producer.next() == Data("ab".utf8))
    }

    @Test func `one large piece of a stream is handed out in small ones`() async throws {
        let large = binary(1_000_000)
        var form = MultipartForm()
        form.appendStream(
            Pieces(pieces: [large]),
            length: 1_000_000,
            name: "s",
            fileName: "s",
            mimeType: "text/plain"
        )
        let pieces = try await form.producer().pieces()
        #expect(pieces.allSatisfy { $0.count <= 65_536 })
        #expect(try MultipartReader.parts(of: pieces.joined, boundary: form.boundary)[0].body == large)
    }

    @Test func `case 406: a form is a value and can be encoded twice`() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.appending(path: "f.bin").path(percentEncoded: false)
            try Self.unicorn.write(to: URL(filePath: path))
            var form = MultipartForm()
            try form.appendFile(at: path, name: "f")
            form.append(Data("d".utf8), name: "d")
            let first = try await form.encoded()
            #expect(try await form.encoded() == first)
            guard case .replayableStream(let length, let pieces) = form.body().storage else {
                Issue.record("a form of data and files must be replayable")
                return
            }
            #expect(length == Int64(first.count))
            #expect(try await pieces().pieces().joined == first)
            #expect(try await pieces().pieces().joined == first)
        }
    }

    @Test func `a form with a stream is sent once`() {
        var form = MultipartForm()
        form.append(Data("d".utf8), name: "d")
        #expect(form.body().isReplayable)
        form.appendStream(Pieces(pieces: []), length: 0, name: "s", fileName: "s", mimeType: "text/plain")
        #expect(!form.body().isReplayable)
        #expect(form.body().knownLength == form.contentLength)
    }

    @Test func `a form larger than the limit is not taken into memory`() async throws {
        var form = MultipartForm()
        form.append(binary(1000), name: "d")
        await #expect(throws: SerializationError.self) { try await form.encoded(limit: 1000) }
        let length = try #require(form.contentLength)
        #expect(try await form.encoded(limit: Int(length)).count == Int(length))
    }
}
