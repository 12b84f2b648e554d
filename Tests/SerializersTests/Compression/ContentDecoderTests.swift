import Foundation
import Testing

@testable import Serializers

@Suite struct ContentDecoderTests {
    private typealias Failure = ContentDecoder.Failure

    /// Words, so that there is something to find again, and some bytes that do not shrink.
    private static let content: Data = {
        var generator = SystemRandomNumberGenerator()
        var data = Data()
        for number in 0..<400 { data += Data("line \(number) of a text that repeats itself\n".utf8) }
        return data + (0..<5_000).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }()

    /// What comes of bytes that are fed in pieces of a size.
    private static func decode(
        _ bytes: Data,
        _ codings: ContentDecoder.Coding...,
        pieces size: Int = .max,
        ratio: Int = 500
    ) throws -> Data {
        var decoder = ContentDecoder(codings, maximumRatio: ratio)
        var rest = bytes
        var content = Data()
        while true {
            switch try decoder.step() {
            case .piece(let piece):
                #expect(!piece.isEmpty && piece.count <= ContentDecoder.pieceSize)
                content += piece
            case .nothing:
                break
            case .needsInput:
                let piece = Data(rest.prefix(size))
                rest = rest.dropFirst(piece.count)
                decoder.received += piece.count
                if piece.isEmpty { decoder.feedEnd() } else { decoder.feed(piece) }
            case .end:
                return content
            }
        }
    }

    @Test(arguments: [1, 2, 7, 1_000, Int.max])
    func `each format comes out as it went in, whatever the pieces`(size: Int) throws {
        let gzip = try Deflated.data(Self.content, .gzip)
        #expect(try Self.decode(gzip, .gzip, pieces: size) == Self.content)
        for format in [Deflated.Format.zlib, .raw] {
            let bytes = try Deflated.data(Self.content, format)
            #expect(try Self.decode(bytes, .deflate, pieces: size) == Self.content, "\(format)")
        }
    }

    @Test(arguments: [1, 3, Int.max])
    func `the members of a gzip are one content`(size: Int) throws {
        let members = [Self.content, Data(), Data("b".utf8), Self.content]
        let bytes = try members.map { try Deflated.data($0, .gzip) }.reduce(Data(), +)
        #expect(try Self.decode(bytes, .gzip, pieces: size) == members.reduce(Data(), +))
    }

    @Test(arguments: [1, Int.max])
    func `codings that follow one another are undone from the last to the first`(size: Int) throws {
        let once = try Deflated.data(Self.content, .gzip)
        let twice = try Deflated.data(once, .zlib)
        let thrice = try Deflated.data(twice, .gzip)
        #expect(try Self.decode(twice, .gzip, .deflate, pieces: size) == Self.content)
        #expect(try Self.decode(thrice, .gzip, .deflate, .gzip, pieces: size) == Self.content)
        #expect(throws: Failure.malformed) { try Self.decode(twice, .deflate, .gzip, pieces: size) }
    }

    @Test func `zlib's format passes for gzip, as it does in libcurl`() throws {
        #expect(try Self.decode(Deflated.data(Self.content, .zlib), .gzip) == Self.content)
    }

    @Test func `no bytes are an empty content in each coding`() throws {
        #expect(try Self.decode(Data(), .gzip).isEmpty)
        #expect(try Self.decode(Data(), .deflate).isEmpty)
        #expect(try Self.decode(Data(), .gzip, .deflate).isEmpty)
        #expect(try Self.decode(Deflated.data(Data(), .raw), .deflate).isEmpty)
        #expect(try Self.decode(Deflated.data(Data(), .gzip), .gzip, .gzip).isEmpty)
    }

    @Test(arguments: [1, Int.max])
    func `a content that ends early is an error wherever it ends`(size: Int) throws {
        let content = Data("a short text, a short text".utf8)
        for (format, coding) in [
            (Deflated.Format.gzip, ContentDecoder.Coding.gzip), (.zlib, .deflate), (.raw, .deflate),
        ] {
            let bytes = try Deflated.data(content, format)
            for count in 1..<bytes.count {
                #expect(throws: Failure.truncated, "\(format) \(count)") {
                    try Self.decode(bytes.prefix(count), coding, pieces: size)
                }
            }
        }
        let two = try Deflated.data(content, .gzip) + Deflated.data(content, .gzip).dropLast()
        #expect(throws: Failure.truncated) { try Self.decode(two, .gzip, pieces: size) }
        // The outer coding is complete, the inner one is not.
        let inner = try Deflated.data(Deflated.data(content, .gzip).dropLast(), .zlib)
        #expect(throws: Failure.truncated) { try Self.decode(inner, .gzip, .deflate, pieces: size) }
    }

    @Test(arguments: [1, Int.max])
    func `bytes behind the end are an error, as they are to libcurl`(size: Int) throws {
        let gzip = try Deflated.data(Self.content, .gzip)
        let zlib = try Deflated.data(Self.content, .zlib)
        let raw = try Deflated.data(Self.content, .raw)
        for garbage in [Data([0]), Data(count: 8), Data("garbage".utf8), Data([0x1F, 0x8C, 8, 0])] {
            #expect(throws: Failure.malformed) { try Self.decode(gzip + garbage, .gzip, pieces: size) }
            #expect(throws: Failure.malformed) { try Self.decode(zlib + garbage, .deflate, pieces: size) }
        }
        // Four bytes are where the checksum would be if the head of the format had not been left out.
        #expect(try Self.decode(raw + Data("abcd".utf8), .deflate, pieces: size) == Self.content)
        #expect(throws: Failure.malformed) {
            try Self.decode(raw + Data("abcde".utf8), .deflate, pieces: size)
        }
    }

    @Test(arguments: [1, Int.max])
    func `what is not in its format is an error`(size: Int) throws {
        let gzip = try Deflated.data(Self.content, .gzip)
        let flaws: [(String, (inout Data) -> Void)] = [
            ("checksum", { $0[$0.count - 5] ^= 1 }), ("length", { $0[$0.count - 1] ^= 1 }),
            ("method", { $0[2] = 7 }), ("flags", { $0[3] = 0xE0 }), ("magic", { $0[0] = 0x1E }),
        ]
        for (name, spoil) in flaws {
            var bytes = gzip
            spoil(&bytes)
            #expect(throws: Failure.malformed, "\(name)") { try Self.decode(bytes, .gzip, pieces: size) }
        }
        var zlib = try Deflated.data(Self.content, .zlib)
        zlib[zlib.count - 1] ^= 1
        #expect(throws: Failure.malformed) { try Self.decode(zlib, .deflate, pieces: size) }
        // A head that asks for a dictionary, which HTTP has none of.
        #expect(throws: Failure.malformed) {
            try Self.decode(Data([0x78, 0x20, 0, 0, 0, 1, 3, 0]), .deflate, pieces: size)
        }
        #expect(throws: Failure.malformed) { try Self.decode(Data("no code".utf8), .gzip, pieces: size) }
    }

    @Test func `a bomb is stopped shortly behind the size below which nothing is suspected`() throws {
        let bomb = try Deflated.data(Data(count: 64 << 20), .gzip)
        var decoder = ContentDecoder([.gzip], maximumRatio: 100)
        decoder.received = bomb.count
        decoder.feed(bomb)
        var made = 0
        #expect(throws: Failure.bomb) {
            while true {
                switch try decoder.step() {
                case .piece(let piece): made += piece.count
                case .nothing: break
                case .needsInput, .end: return
                }
            }
        }
        #expect(made <= max(ContentDecoder.unsuspectedSize, 101 * bomb.count))
        #expect(try Self.decode(bomb, .gzip, ratio: 2_000).count == 64 << 20)
    }

    @Test func `small contents may have any ratio`() throws {
        let bytes = try Deflated.data(Data(count: 8 << 20), .gzip)
        #expect(try Self.decode(bytes, .gzip, ratio: 1).count == 8 << 20)
    }

    @Test func `a bomb within another coding is stopped although nothing of it reaches the content`() throws {
        // 2 GiB of empty gzip members, which are no content at all, packed twice.
        let empty = try Deflated.data(Data(), .gzip)
        let members = (0..<(16 << 20) / empty.count).reduce(into: Data()) { data, _ in data += empty }
        let packed = try Deflated.data(members, .gzip)
        let row = (0..<128).reduce(into: Data()) { data, _ in data += packed }
        let bytes = try Deflated.data(row, .gzip)
        #expect(throws: Failure.bomb) { try Self.decode(bytes, .gzip, .gzip, .gzip) }
    }

    @Test func `the names of codings are read in any case, from several fields, with what says nothing`()
        throws
    {
        #expect(try ContentDecoder.codings([]) == [])
        #expect(try ContentDecoder.codings(["", " , "]) == [])
        #expect(try ContentDecoder.codings(["identity"]) == [])
        #expect(try ContentDecoder.codings(["GZip"]) == [.gzip])
        #expect(try ContentDecoder.codings([" x-gzip\t,, Deflate", "gzip"]) == [.gzip, .deflate, .gzip])
    }

    @Test func `codings that are not known, or more than five, are errors`() throws {
        for name in ["br", "zstd", "compress", "foo", "gzip;q=1", "gz ip"] {
            #expect(throws: Failure.unknown(name)) { try ContentDecoder.codings(["gzip, \(name)"]) }
        }
        #expect(try ContentDecoder.codings(["gzip, gzip, gzip, gzip, gzip"]).count == 5)
        #expect(throws: Failure.tooMany) {
            try ContentDecoder.codings(["gzip, gzip, gzip", "gzip, gzip, gzip"])
        }
        #expect(throws: Failure.tooMany) {
            try ContentDecoder.codings([Array(repeating: "identity", count: 6).joined(separator: ",")])
        }
    }

    @Test func `without codings bytes pass as they are, in pieces`() throws {
        let bytes = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0) })
        #expect(try Self.decode(bytes) == bytes)
        #expect(try Self.decode(Data()).isEmpty)
    }
}
