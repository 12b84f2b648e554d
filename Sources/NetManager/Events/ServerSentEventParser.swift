import FoundationEssentials

/// Reads an event stream (WHATWG HTML, section 9.2.6), wherever its pieces are cut.
///
/// No I/O, no clock.
struct ServerSentEventParser: Sendable {
    private let limit: Int
    private var splitter: LineSplitter
    private var data: [UInt8] = []
    private var type = ""
    private var pendingID: String
    /// What a reconnection tells the server: set by the last event that was complete.
    private(set) var lastEventID: String
    /// How long to wait before a reconnection; nil while the server has not said.
    private(set) var reconnectionTime: Duration?

    /// Begins a stream.
    /// - Parameters:
    ///   - limit: The most bytes of an event's data, and of a line.
    ///   - lastEventID: What an earlier connection left.
    init(limit: Int, lastEventID: String = "") {
        self.limit = limit
        splitter = LineSplitter(limit: limit)
        self.lastEventID = lastEventID
        pendingID = lastEventID
    }

    /// Takes a piece.
    /// - Returns: The events that are complete with it. What is incomplete at the end of a stream is none.
    /// - Throws: ``BodyTooLarge`` when an event passes the limit.
    mutating func push(_ piece: Data) throws -> [ServerSentEvent] {
        var events: [ServerSentEvent] = []
        var splitter = splitter
        try splitter.push(piece) { line in
            if let event = try take(line) { events.append(event) }
        }
        self.splitter = splitter
        return events
    }

    private mutating func take(_ line: [UInt8]) throws -> ServerSentEvent? {
        guard !line.isEmpty else { return dispatch() }
        let colon = line.firstIndex(of: UInt8(ascii: ":"))
        let name = line[..<(colon ?? line.endIndex)]
        var value = colon.map { line[($0 + 1)...] } ?? []
        if value.first == 0x20 { value = value.dropFirst() }
        // A comment has an empty name.
        switch String(decoding: name, as: UTF8.self) {
        case "data":
            guard value.count < limit - data.count else { throw BodyTooLarge(limit: limit) }
            data.append(contentsOf: value)
            data.append(0x0A)
        case "event":
            type = String(decoding: value, as: UTF8.self)
        case "id":
            if !value.contains(0) { pendingID = String(decoding: value, as: UTF8.self) }
        case "retry":
            guard !value.isEmpty, value.allSatisfy({ (0x30...0x39).contains($0) }) else { break }
            let number = Int64(String(decoding: value, as: UTF8.self))
            reconnectionTime = number.map { min(.milliseconds($0), .longest) } ?? .longest
        default:
            break
        }
        return nil
    }

    private mutating func dispatch() -> ServerSentEvent? {
        lastEventID = pendingID
        defer {
            data.removeAll(keepingCapacity: true)
            type = ""
        }
        guard !data.isEmpty else { return nil }
        return ServerSentEvent(
            id: lastEventID,
            event: type.isEmpty ? "message" : type,
            data: String(decoding: data.dropLast(), as: UTF8.self),
            reconnectionTime: reconnectionTime
        )
    }
}
