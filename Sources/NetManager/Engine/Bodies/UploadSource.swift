import FoundationEssentials

/// The sending end of a body, on the engine's thread.
struct UploadSource {
    /// Bodies up to this size are handed to libcurl whole, which sends them together with the header: 64 KiB
    /// is the most that it puts into one piece.
    ///
    /// Larger ones are read as they are sent.
    static let copiedSize = 64 << 10

    private let plan: UploadPlan
    private var offset = 0
    /// Whether libcurl has been told that nothing more comes; of a request without a body, from the start.
    private(set) var hasEnded: Bool

    init(_ plan: UploadPlan) {
        self.plan = plan
        if case .none = plan { hasEnded = true } else { hasEnded = false }
    }

    /// Fills a buffer with the next bytes.
    mutating func read(into buffer: UnsafeMutableRawBufferPointer) -> UploadChannel.Read {
        switch plan {
        case .none:
            return .end
        case .bytes(let data):
            let count = min(buffer.count, data.count - offset)
            guard count > 0 else { return .end }
            let start = data.startIndex + offset
            buffer.copyBytes(from: data[start..<(start + count)])
            offset += count
            return .bytes(count)
        case .channel(let channel):
            let read = channel.read(into: buffer)
            if case .end = read { hasEnded = true }
            return read
        }
    }

    /// Goes back, for a request that libcurl sends again; false for what can be drawn only once.
    mutating func seek(to offset: Int64) -> Bool {
        guard case .bytes(let data) = plan, offset >= 0, offset <= data.count else { return false }
        self.offset = Int(offset)
        return true
    }
}
