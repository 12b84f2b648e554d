/// Reads datagrams of rtnetlink: a pure function of their bytes, which trusts no length in them.
struct NetlinkReader {
    private let bytes: UnsafeRawBufferPointer

    /// Takes a datagram apart.
    static func batch(_ bytes: UnsafeRawBufferPointer) -> NetlinkBatch {
        var batch = NetlinkBatch()
        var rest = bytes[...]
        while !rest.isEmpty {
            let reader = NetlinkReader(bytes: UnsafeRawBufferPointer(rebasing: rest))
            // nlmsghdr: length with the header, type, flags, sequence, port.
            guard let length = reader.integer(at: 0, UInt32.self),
                let type = reader.integer(at: 4, UInt16.self),
                let flags = reader.integer(at: 6, UInt16.self),
                let sequence = reader.integer(at: 8, UInt32.self),
                length >= headerSize, Int(length) <= rest.count,
                let message = reader.message(type, body: Int(headerSize)..<Int(length))
            else {
                batch.isMalformed = true
                return batch
            }
            if flags & Number.dumpInterrupted != 0 { batch.isInterrupted = true }
            let isAnswer = flags & Number.multipart != 0 || type == Number.error
            batch.entries.append(.init(sequence: sequence, isAnswer: isAnswer, message: message))
            rest = rest.dropFirst(aligned(Int(length)))
        }
        return batch
    }

    private static let headerSize: UInt32 = 16

    private static func aligned(_ length: Int) -> Int { (length + 3) & ~3 }

    /// Numbers of linux/netlink.h and linux/rtnetlink.h.
    enum Number {
        static let error: UInt16 = 2
        static let done: UInt16 = 3
        static let newLink: UInt16 = 16
        static let deleteLink: UInt16 = 17
        static let getLink: UInt16 = 18
        static let newRoute: UInt16 = 24
        static let deleteRoute: UInt16 = 25
        static let getRoute: UInt16 = 26
        static let multipart: UInt16 = 0x2
        static let dumpInterrupted: UInt16 = 0x10
        static let interfaceName: UInt16 = 3
        static let outputInterface: UInt16 = 4
        static let multipath: UInt16 = 9
        static let table: UInt16 = 15
    }

    /// The message in a range of the bytes, which lies within them; nil if it is broken.
    private func message(_ type: UInt16, body: Range<Int>) -> NetlinkMessage? {
        switch type {
        case Number.done: .done
        case Number.error:
            integer(at: body.lowerBound, within: body, Int32.self).map { .failed(errno: -max($0, -4095)) }
        case Number.newLink: link(body).map { .link($0) }
        case Number.deleteLink: link(body).map { .linkRemoved(index: $0.index) }
        case Number.newRoute: route(body).map { $0.map { .route($0) } ?? .other(type: type) }
        case Number.deleteRoute: route(body).map { $0.map { .routeRemoved($0) } ?? .other(type: type) }
        default: .other(type: type)
        }
    }

    private func link(_ body: Range<Int>) -> NetlinkMessage.Link? {
        // ifinfomsg: family, padding, type, index, flags, change.
        guard let index = integer(at: body.lowerBound + 4, within: body, Int32.self),
            let flags = integer(at: body.lowerBound + 8, within: body, UInt32.self), body.count >= 16
        else { return nil }
        var link = NetlinkMessage.Link(index: index, name: "", flags: flags)
        let isWhole = eachAttribute(in: body.lowerBound + 16..<body.upperBound) { type, value in
            if type == Number.interfaceName {
                link.name = String(decoding: bytes[value].prefix { $0 != 0 }, as: UTF8.self)
            }
            return true
        }
        return isWhole ? link : nil
    }

    /// The route; nil inside for a family other than the two, nil for bytes that are none.
    private func route(_ body: Range<Int>) -> NetlinkMessage.Route?? {
        // rtmsg: family, lengths of both prefixes, tos, table, protocol, scope, type, flags.
        guard body.count >= 12 else { return .none }
        let start = body.lowerBound
        guard let family = NetlinkMessage.Route.Family(rawValue: bytes[start]) else { return .some(nil) }
        var route = NetlinkMessage.Route(
            family: family,
            prefix: bytes[start + 1],
            table: UInt32(bytes[start + 4]),
            type: bytes[start + 7],
            interfaces: []
        )
        let isWhole = eachAttribute(in: start + 12..<body.upperBound) { type, value in
            switch type {
            case Number.table:
                guard let table = integer(at: value.lowerBound, within: value, UInt32.self) else {
                    return false
                }
                route.table = table
            case Number.outputInterface:
                guard let index = integer(at: value.lowerBound, within: value, Int32.self) else {
                    return false
                }
                route.interfaces.append(index)
            case Number.multipath:
                guard let hops = nextHops(value) else { return false }
                route.interfaces += hops
            default: break
            }
            return true
        }
        return isWhole ? .some(route) : .none
    }

    /// rtnexthop, one after the other: length, flags, hops, index.
    private func nextHops(_ value: Range<Int>) -> [Int32]? {
        var found: [Int32] = []
        var position = value.lowerBound
        while position < value.upperBound {
            guard let length = integer(at: position, within: value, UInt16.self), length >= 8,
                position + Int(length) <= value.upperBound,
                let index = integer(at: position + 4, within: value, Int32.self)
            else { return nil }
            found.append(index)
            position += Self.aligned(Int(length))
        }
        return found
    }

    /// rtattr, one after the other: length with its header, type, value; false if they do not fill the range.
    private func eachAttribute(in range: Range<Int>, _ body: (UInt16, Range<Int>) -> Bool) -> Bool {
        var position = range.lowerBound
        while position < range.upperBound {
            guard let length = integer(at: position, within: range, UInt16.self),
                let type = integer(at: position + 2, within: range, UInt16.self),
                length >= 4, position + Int(length) <= range.upperBound
            else { return false }
            // The two highest bits are marks: nested, and in network order.
            guard body(type & 0x3FFF, position + 4..<position + Int(length)) else { return false }
            position += Self.aligned(Int(length))
        }
        return true
    }

    private func integer<Value: FixedWidthInteger & BitwiseCopyable>(
        at offset: Int,
        within range: Range<Int>? = nil,
        _ type: Value.Type
    ) -> Value? {
        let range = range ?? 0..<bytes.count
        guard offset >= range.lowerBound, offset + MemoryLayout<Value>.size <= range.upperBound else {
            return nil
        }
        return bytes.loadUnaligned(fromByteOffset: offset, as: Value.self)
    }
}
