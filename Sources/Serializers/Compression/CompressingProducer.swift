import FoundationEssentials
import HTTPMessage

/// Draws pieces, compresses them and hands out what zlib has ready.
///
/// zlib gathers bytes before it writes any: what a slow source yields may reach the server with its end only.
actor CompressingProducer {
    private let source: HTTPBody.Producer
    private let coding: RequestCompression.Coding
    private var deflater: Deflater?
    private var isFinished = false

    init(source: HTTPBody.Producer, coding: RequestCompression.Coding) {
        self.source = source
        self.coding = coding
    }

    /// The next compressed bytes; nil at the end.
    func next() async throws -> Data? {
        while !isFinished {
            let piece = try await source.next()
            let deflater = try deflater ?? Deflater(coding)
            self.deflater = deflater
            guard let piece else {
                isFinished = true
                return try deflater.finish()
            }
            let compressed = try deflater.compress(piece)
            if !compressed.isEmpty { return compressed }
        }
        return nil
    }
}

extension HTTPBody.Producer {
    /// Reads a file in pieces of at most 64 KiB; one whose length is not the one given is an error.
    init(readingFile path: String, length: Int64) {
        let source = FileProducer(path: path, length: length)
        self.init { try await source.next() }
    }
}

/// Reads a file that is opened with the first piece.
private actor FileProducer {
    private let path: String
    private let length: Int64
    private var reader: FileReader?
    private var received: Int64 = 0

    init(path: String, length: Int64) {
        self.path = path
        self.length = length
    }

    func next() throws -> Data? {
        let reader = try reader ?? FileReader(path: path)
        self.reader = reader
        // 64 KiB, as much as libcurl takes at once.
        let bytes = try reader.read(upTo: 65_536)
        received += Int64(bytes.count)
        guard received <= length, !bytes.isEmpty || received == length else { throw reader.lengthChanged }
        return bytes.isEmpty ? nil : bytes
    }
}
