// module: Reachability
// with: Tests/ReachabilityTests/NetlinkBytes.swift
//
// Any bytes as a datagram of rtnetlink, and good ones with some bytes changed: reading them must end without a crash, yield
// no more than the bytes have room for, and not depend on where in memory they lie or on what follows. What was read goes
// through the state machine that asks for the tables, which must publish only routes that lead out.

@testable import Reachability

/// One input under test; zero, as libFuzzer wants it.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzNetlink(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    guard let first = input.first else { return 0 }
    let rest = input.dropFirst()
    switch first % 4 {
    case 0:
        check(Array(rest))
        _ = tables(from: [Array(rest)])
    case 1:
        let links = changed(goodLinks, by: rest)
        check(links)
        let count = tables(from: [links, goodRoutes])
        precondition(count == 1 || links != goodLinks, "good answers make no table")
    case 2:
        let routes = changed(goodRoutes, by: rest)
        check(routes)
        let count = tables(from: [goodLinks, routes])
        precondition(count == 1 || routes != goodRoutes, "good answers make no table")
    default:
        let news = changed(goodNews, by: rest)
        check(news)
        let count = tables(from: [goodLinks, news, goodRoutes])
        precondition(count == 0 || news != goodNews, "a table is old")
    }
    return 0
}

private func check(_ bytes: [UInt8]) {
    let batch = read(bytes)
    precondition(batch.entries.count * 16 <= bytes.count, "more messages than there is room for")
    for entry in batch.entries {
        switch entry.message {
        case .link(let link):
            // A byte that is no UTF-8 becomes three.
            precondition(link.name.utf8.count <= 3 * bytes.count, "a name out of nowhere")
            precondition(!link.name.utf8.contains(0), "a NUL in a name")
        case .route(let route), .routeRemoved(let route):
            precondition(route.interfaces.count * 8 <= bytes.count, "more interfaces than there is room for")
        case .failed(let code): precondition(code <= 4095, "no errno")
        case .linkRemoved, .done, .other: break
        }
    }
    // One byte further on, no integer is aligned.
    precondition(([0] + bytes).withUnsafeBytes { NetlinkReader.batch(.init(rebasing: $0[1...])) } == batch)
    guard bytes.count % 4 == 0 else { return }
    let followed = read(bytes + goodLinks)
    if batch.isMalformed {
        precondition(followed.entries.starts(with: batch.entries), "what follows changes what was read")
    } else {
        precondition(
            followed.entries == batch.entries + read(goodLinks).entries && !followed.isMalformed,
            "what follows is read differently"
        )
    }
}

/// Gives these datagrams to a dump and counts the tables that it makes of them.
private func tables(from datagrams: [[UInt8]]) -> Int {
    var dump = NetlinkDump()
    precondition(dump.begin() != nil, "a dump does not begin")
    var count = 0
    for datagram in datagrams {
        guard case .publish(let table) = dump.receive(read(datagram)) else { continue }
        count += 1
        precondition(table.routes.allSatisfy(NetworkTable.leadsOut), "a route that does not lead out")
        let path = table.path
        precondition((path.status == .reachable) == !path.interfaces.isEmpty)
        precondition(dump.begin() != nil, "a dump does not begin again")
    }
    return count
}

private func read(_ bytes: [UInt8]) -> NetlinkBatch {
    bytes.withUnsafeBytes { NetlinkReader.batch($0) }
}

/// Two interfaces, as the answer to the first question.
private let goodLinks: [UInt8] = {
    var datagram = NetlinkBytes()
    datagram.addLink(1, "lo", flags: 0x10049, sequence: 1)
    datagram.addLink(2, "eth0", flags: 0x11043, sequence: 1)
    datagram.addDone(sequence: 1)
    return datagram.bytes
}()

/// A route over one interface and one over two, as the answer to the second question.
private let goodRoutes: [UInt8] = {
    var datagram = NetlinkBytes()
    datagram.addRoute(interface: 2, sequence: 2)
    let hop: (Int32) -> [UInt8] = { NetlinkBytes.integer(UInt16(8)) + [0, 0] + NetlinkBytes.integer($0) }
    let head: [UInt8] = [10, 0, 0, 0, 254, 3, 0, 1, 0, 0, 0, 0]
    datagram.add(24, sequence: 2, head + NetlinkBytes.attribute(9, hop(2) + hop(1)))
    datagram.addDone(sequence: 2)
    return datagram.bytes
}()

/// An interface and a default route that went away.
private let goodNews: [UInt8] = {
    var datagram = NetlinkBytes()
    datagram.addLink(2, "eth0", flags: 0x11002, type: 17)
    datagram.addRoute(interface: 2, message: 25)
    return datagram.bytes
}()
