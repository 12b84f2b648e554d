import FoundationEssentials

/// Takes bytes apart into lines that end with LF, CR LF or CR, wherever the pieces are cut.
///
/// A byte order mark of UTF-8 at the very beginning is left out.
struct LineSplitter: Sendable {
    /// The most bytes of a line.
    let limit: Int
    private var pending: [UInt8] = []
    /// Whether the last byte was CR: an LF behind it belongs to the same end.
    private var endsWithCR = false
    private var isFirstLine = true

    init(limit: Int) {
        self.limit = limit
    }

    /// Takes a piece.
    /// - Parameters:
    ///   - piece: The next bytes.
    ///   - line: Given each complete line without its end.
    /// - Throws: ``BodyTooLarge`` when a line passes the limit; what `line` throws.
    mutating func push(_ piece: Data, line: ([UInt8]) throws -> Void) throws {
        try piece.withUnsafeBytes { bytes in
            var start = 0
            for index in bytes.indices {
                let byte = bytes[index]
                if byte == 0x0A, endsWithCR {
                    endsWithCR = false
                    start = index + 1
                    continue
                }
                endsWithCR = byte == 0x0D
                guard byte == 0x0A || byte == 0x0D else { continue }
                try append(UnsafeRawBufferPointer(rebasing: bytes[start..<index]))
                start = index + 1
                try line(take())
            }
            try append(UnsafeRawBufferPointer(rebasing: bytes[start...]))
        }
    }

    /// What stands behind the last end of a line; nil when that is nothing.
    mutating func finish() -> [UInt8]? {
        let rest = take()
        return rest.isEmpty ? nil : rest
    }

    private mutating func append(_ bytes: UnsafeRawBufferPointer) throws {
        guard bytes.count <= limit - pending.count else { throw BodyTooLarge(limit: limit) }
        pending.append(contentsOf: bytes)
    }

    private mutating func take() -> [UInt8] {
        defer {
            pending.removeAll(keepingCapacity: true)
            isFirstLine = false
        }
        return isFirstLine && pending.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(pending.dropFirst(3)) : pending
    }
}
