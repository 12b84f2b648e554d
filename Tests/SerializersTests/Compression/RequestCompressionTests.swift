import FoundationEssentials
import HTTPMessage
import SeededRandom
import Testing

@testable import Serializers

@Suite struct RequestCompressionTests {
    /// Compresses well, and is more than zlib takes at once.
    static var text: Data { Data(String(repeating: "What is said twice is said once. ", count: 10_000).utf8) }

    static func request(_ body: HTTPBody?, headers: HTTPHeaders = [:]) throws -> HTTPRequest {
        HTTPRequest(.post, url: try #require(URL(string: "http://h/")), headers: headers, body: body)
    }

    static func compressed(_ body: HTTPBody?, _ compression: RequestCompression) throws -> HTTPRequest {
        var request = try request(body)
        try compression.apply(to: &request)
        return request
    }

    /// All bytes of a body that is in memory or a stream.
    static func bytes(_ body: HTTPBody?) async throws -> Data {
        switch try #require(body).storage {
        case .data(let data): data
        case .stream(_, let pieces), .replayableStream(_, let pieces): try await pieces().pieces().joined
        case .file: throw Inflater.Malformed(code: 0)
        }
    }

    @Test(arguments: [RequestCompression.gzip, .deflate])
    func `a body in memory is compressed and says so`(compression: RequestCompression) async throws {
        let request = try Self.compressed(.data(Self.text), compression)
        #expect(request.headers[values: "Content-Encoding"] == [compression.coding.rawValue])
        let bytes = try await Self.bytes(request.body)
        #expect(bytes.count < Self.text.count / 10)
        #expect(request.body?.knownLength == Int64(bytes.count))
        #expect(try Inflater.inflate(bytes, gzip: compression.coding == .gzip) == Self.text)
    }

    @Test func `deflate means the zlib format, with its header`() async throws {
        let bytes = try await Self.bytes(Self.compressed(.data(Self.text), .deflate).body)
        // RFC 1950, section 2.2: method 8, window of 32 KiB; the two bytes are a multiple of 31.
        #expect(bytes[0] == 0x78)
        #expect((Int(bytes[0]) * 256 + Int(bytes[1])) % 31 == 0)
    }

    @Test(arguments: [RequestCompression.gzip, .deflate])
    func `a stream is compressed while it is sent`(compression: RequestCompression) async throws {
        let pieces = stride(from: 0, to: Self.text.count, by: 999)
            .map { Self.text[$0..<min($0 + 999, Self.text.count)] }
        let body = HTTPBody.stream(Pieces(pieces: pieces), length: Int64(Self.text.count))
        let request = try Self.compressed(body, compression)
        #expect(request.body?.knownLength == nil)
        #expect(request.body?.isReplayable == false)
        let bytes = try await Self.bytes(request.body)
        #expect(try Inflater.inflate(bytes, gzip: compression.coding == .gzip) == Self.text)
    }

    @Test func `a stream of no bytes becomes a valid empty one`() async throws {
        let request = try Self.compressed(.stream(Pieces(pieces: [Data()])), .gzip)
        #expect(try Inflater.inflate(await Self.bytes(request.body), gzip: true).isEmpty)
    }

    @Test func `a stream that does not compress comes through`() async throws {
        var random = SplitMix64(seed: 1)
        let noise = Data((0..<300_000).map { _ in UInt8.random(in: .min ... .max, using: &random) })
        let request = try Self.compressed(.stream(Pieces(pieces: [noise])), .gzip)
        #expect(try Inflater.inflate(await Self.bytes(request.body), gzip: true) == noise)
        let inMemory = try Self.compressed(.data(noise), .gzip)
        #expect(inMemory.headers.isEmpty)
        #expect(try await Self.bytes(inMemory.body) == noise)
    }

    @Test func `a form can be sent again, compressed`() async throws {
        var form = MultipartForm()
        form.append(Self.text, name: "t")
        let request = try Self.compressed(form.body(), .gzip)
        #expect(request.body?.isReplayable == true)
        let first = try await Self.bytes(request.body)
        #expect(try await Self.bytes(request.body) == first)
        #expect(try await Inflater.inflate(first, gzip: true) == form.encoded())
    }

    @Test func `a file is compressed while it is sent, and again`() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.appending(path: "f").path(percentEncoded: false)
            try Self.text.write(to: URL(filePath: path))
            let request = try Self.compressed(.file(path), .gzip)
            #expect(request.body?.isReplayable == true)
            for _ in 0..<2 {
                #expect(try Inflater.inflate(await Self.bytes(request.body), gzip: true) == Self.text)
            }
            try (Self.text + Data("more".utf8)).write(to: URL(filePath: path))
            await #expect(throws: SerializationError.self) { try await Self.bytes(request.body) }
            try Self.text.dropLast().write(to: URL(filePath: path))
            await #expect(throws: SerializationError.self) { try await Self.bytes(request.body) }
        }
    }

    @Test func `a file that is missing is an error before anything is sent`() {
        #expect(throws: SerializationError.self) { try Self.compressed(.file("/nope/f"), .gzip) }
    }

    @Test func `small, empty and absent bodies stay as they are`() async throws {
        for body in [HTTPBody.data(Data(count: 1023)), .data(Data()), .stream(Pieces(pieces: []), length: 0)]
        {
            let request = try Self.compressed(body, .gzip)
            #expect(request.headers.isEmpty)
            #expect(request.body?.knownLength == body.knownLength)
        }
        #expect(try Self.compressed(nil, .gzip).body == nil)
        #expect(try Self.compressed(.data(Data(count: 1024)), .gzip).headers["Content-Encoding"] == "gzip")
        let eager = RequestCompression(.gzip, minimumSize: 0)
        #expect(try Self.compressed(.data(Data()), eager).headers.isEmpty)
        #expect(try Self.compressed(.data(Data(count: 100)), eager).headers["Content-Encoding"] == "gzip")
    }

    @Test func `a coding that is there already is an error, replaced or left, as the caller chooses`()
        async throws
    {
        let headers: HTTPHeaders = ["content-encoding": "br"]
        var request = try Self.request(.data(Self.text), headers: headers)
        #expect(throws: SerializationError.self) { try RequestCompression.gzip.apply(to: &request) }

        try RequestCompression(.gzip, existingCoding: .skip).apply(to: &request)
        #expect(request.headers == headers)
        #expect(try await Self.bytes(request.body) == Self.text)

        try RequestCompression(.gzip, existingCoding: .replace).apply(to: &request)
        #expect(request.headers[values: "Content-Encoding"] == ["gzip"])
        #expect(try Inflater.inflate(await Self.bytes(request.body), gzip: true) == Self.text)
    }

    @Test func `an error of the source comes out as it is`() async throws {
        struct Broken: Error {}
        let stream = AsyncThrowingStream<Data, any Error> {
            $0.yield(Data("a".utf8))
            $0.finish(throwing: Broken())
        }
        let request = try Self.compressed(.stream(stream), .gzip)
        await #expect(throws: Broken.self) { try await Self.bytes(request.body) }
    }
}
