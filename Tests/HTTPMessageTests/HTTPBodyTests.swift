import FoundationEssentials
import HTTPMessage
import Testing

@Suite struct HTTPBodyTests {
    /// A sequence that counts how often it is begun, yields its pieces, and may fail at its end.
    struct Counting: AsyncSequence, Sendable {
        typealias Element = Data

        actor Count {
            var begun = 0
            func begin() { begun += 1 }
        }

        struct Broken: Error {}

        let count = Count()
        var pieces: [String]
        var fails = false

        func makeAsyncIterator() -> Iterator {
            Iterator(sequence: self, index: 0)
        }

        struct Iterator: AsyncIteratorProtocol {
            let sequence: Counting
            var index: Int

            mutating func next() async throws -> Data? {
                if index == 0 { await sequence.count.begin() }
                defer { index += 1 }
                if index < sequence.pieces.count { return Data(sequence.pieces[index].utf8) }
                if sequence.fails { throw Broken() }
                return nil
            }
        }
    }

    static func producer(_ body: HTTPBody) throws -> HTTPBody.Producer {
        switch body.storage {
        case .stream(_, let pieces), .replayableStream(_, let pieces): pieces()
        case .data, .file: throw Counting.Broken()
        }
    }

    @Test func `data and files can be sent again, streams cannot`() {
        let again = HTTPBody(storage: .replayableStream(length: 3) { HTTPBody.Producer { nil } })
        #expect(HTTPBody.data(Data([1])).isReplayable)
        #expect(HTTPBody.file("/nope").isReplayable)
        #expect(again.isReplayable)
        #expect(!HTTPBody.stream(Counting(pieces: [])).isReplayable)
        #expect(!HTTPBody.stream(Counting(pieces: []), length: 0).isReplayable)
    }

    @Test func `the length of data and of declared streams is known, that of files is not`() {
        #expect(HTTPBody.data(Data(count: 5)).knownLength == 5)
        #expect(HTTPBody.data(Data()).knownLength == 0)
        #expect(HTTPBody.file("/nope").knownLength == nil)
        #expect(HTTPBody.stream(Counting(pieces: [])).knownLength == nil)
        #expect(HTTPBody.stream(Counting(pieces: []), length: 5_000_000_000).knownLength == 5_000_000_000)
    }

    @Test func `a stream yields its pieces in order, then nothing`() async throws {
        let sequence = Counting(pieces: ["a", "", "bc"])
        let producer = try Self.producer(.stream(sequence))
        #expect(try await producer.next() == Data("a".utf8))
        #expect(try await producer.next() == Data())
        #expect(try await producer.next() == Data("bc".utf8))
        #expect(try await producer.next() == nil)
        #expect(try await producer.next() == nil)
        #expect(await sequence.count.begun == 1)
    }

    @Test func `a stream is not begun before it is drawn`() async throws {
        let sequence = Counting(pieces: ["a"])
        _ = try Self.producer(.stream(sequence))
        #expect(await sequence.count.begun == 0)
    }

    @Test func `a stream that failed does not begin again`() async throws {
        let sequence = Counting(pieces: [], fails: true)
        let producer = try Self.producer(.stream(sequence))
        await #expect(throws: Counting.Broken.self) { try await producer.next() }
        #expect(try await producer.next() == nil)
        #expect(await sequence.count.begun == 1)
    }
}
