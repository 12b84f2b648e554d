// module: NetManager
//
// Any event stream: reading it must end without a crash, and its events must not depend on where it is cut.

import FoundationEssentials

@testable import NetManager

/// A stream under test, read whole and in pieces whose sizes come from its own bytes; zero, as libFuzzer wants it.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzEventStream(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = Data(UnsafeBufferPointer(start: start, count: count))
    let whole = read([bytes])
    var pieces: [Data] = []
    var rest = bytes
    while let first = rest.first {
        let size = min(Int(first % 5) + 1, rest.count)
        pieces.append(Data(rest.prefix(size)))
        rest = rest.dropFirst(size)
    }
    let cut = read(pieces)
    precondition(whole.events == cut.events && whole.failed == cut.failed, "cutting changes the events")
    for event in whole.events {
        precondition(event.data.utf8.count <= 3 * 256, "an event passes the limit")
        precondition(!event.event.isEmpty, "an event has no type")
        if let time = event.reconnectionTime { precondition(time >= .zero, "a wait is negative") }
    }
    return 0
}

/// 256 bytes are the limit, so that it is met; a bad byte becomes three.
private func read(_ pieces: [Data]) -> (events: [ServerSentEvent], failed: Bool) {
    var parser = ServerSentEventParser(limit: 256)
    var events: [ServerSentEvent] = []
    for piece in pieces {
        do {
            events += try parser.push(piece)
        } catch {
            // What came before in the same piece is lost with it, so only the failure can be compared.
            return ([], true)
        }
    }
    return (events, false)
}
