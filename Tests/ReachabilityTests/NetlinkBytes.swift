/// Writes datagrams of rtnetlink, as the kernel does.
struct NetlinkBytes {
    private(set) var bytes: [UInt8] = []

    /// Adds a message with its header.
    mutating func add(_ type: UInt16, flags: UInt16 = 0, sequence: UInt32? = nil, _ body: [UInt8]) {
        var message = Self.integer(UInt32(16 + body.count)) + Self.integer(type)
        // An answer to a dump is marked as a part of many (NLM_F_MULTI); news are not.
        message += Self.integer(sequence == nil ? flags : flags | 0x2)
        message += Self.integer(sequence ?? 77) + Self.integer(UInt32(0)) + body
        while message.count % 4 != 0 { message.append(0) }
        bytes += message
    }

    mutating func addLink(
        _ index: Int32,
        _ name: String,
        flags: UInt32,
        sequence: UInt32? = nil,
        type: UInt16 = 16
    ) {
        let head: [UInt8] =
            [0, 0, 1, 0] + Self.integer(index) + Self.integer(flags) + Self.integer(UInt32(0))
        add(type, sequence: sequence, head + Self.attribute(3, Array(name.utf8) + [0]))
    }

    mutating func addRoute(
        _ family: UInt8 = 2,
        prefix: UInt8 = 0,
        table: UInt8 = 254,
        type: UInt8 = 1,
        interface: Int32,
        sequence: UInt32? = nil,
        message: UInt16 = 24
    ) {
        let head: [UInt8] = [family, prefix, 0, 0, table, 3, 0, type] + Self.integer(UInt32(0))
        let attributes =
            Self.attribute(15, Self.integer(UInt32(table))) + Self.attribute(4, Self.integer(interface))
        add(message, sequence: sequence, head + attributes)
    }

    mutating func addDone(sequence: UInt32) { add(3, sequence: sequence, Self.integer(Int32(0))) }

    static func attribute(_ type: UInt16, _ value: [UInt8]) -> [UInt8] {
        var bytes = integer(UInt16(4 + value.count)) + integer(type) + value
        while bytes.count % 4 != 0 { bytes.append(0) }
        return bytes
    }

    static func integer(_ value: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: value) { Array($0) }
    }
}
