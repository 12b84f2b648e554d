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
    switch first % 3 {
    case 0:
        check(Array(rest))
        dump([Array(rest)])
    case 1:
        let links = changed(goodLinks, by: rest)
        check(links)
        dump([links, goodRoutes])
    default:
        let routes = changed(goodRoutes, by: rest)
        check(routes)
        dump([goodLinks, routes])
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

/// Answers the questions of a dump with these datagrams, one each, and over again.
private func dump(_ datagrams: [[UInt8]]) {
    var dump = NetlinkDump()
    var action = dump.begin()
    precondition(action != nil, "a dump does not begin")
    for _ in 0..<4 {
        for datagram in datagrams {
            action = dump.receive(read(datagram))
            switch action {
            case .publish(let table):
                precondition(table.routes.allSatisfy(NetworkTable.leadsOut), "a route that does not lead out")
                let path = table.path
                precondition((path.status == .reachable) == !path.interfaces.isEmpty)
                action = dump.begin()
            case .fail: action = dump.begin()
            case .ask, nil: break
            }
        }
    }
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

/// A route over one interface and one over two, as the answer to the second question, and a change.
private let goodRoutes: [UInt8] = {
    var datagram = NetlinkBytes()
    datagram.addRoute(interface: 2, sequence: 2)
    let hop: (Int32) -> [UInt8] = { NetlinkBytes.integer(UInt16(8)) + [0, 0] + NetlinkBytes.integer($0) }
    let head: [UInt8] = [10, 0, 0, 0, 254, 3, 0, 1, 0, 0, 0, 0]
    datagram.add(24, sequence: 2, head + NetlinkBytes.attribute(9, hop(2) + hop(1)))
    datagram.addRoute(interface: 1, message: 25)
    datagram.addDone(sequence: 2)
    return datagram.bytes
}()
