/// A property list in its binary form, read only for what refers to what.
///
/// The form is that of CFBinaryPList.c in CoreFoundation: objects, a table of their offsets, and a trailer of 32 bytes.
struct BinaryPropertyList {
    /// What is known about an object.
    private enum Finding {
        case unknown
        case open
        /// How many levels it has, and how many values it is when every reference is followed.
        case known(levels: Int, values: Int)
    }

    /// A container whose members are being looked at.
    private struct Container {
        let object: Int
        let references: Int
        let count: Int
        var next = 0
        var levels = 1
        var values = 1
    }

    private static let trailerSize = 32

    private let bytes: UnsafeBufferPointer<UInt8>
    private let offsetSize: Int
    private let referenceSize: Int
    private let objectCount: Int
    private let topObject: Int
    private let table: Int
    private var findings: [Finding]

    /// Reads the trailer; nil when it is wrong.
    init?(_ bytes: UnsafeBufferPointer<UInt8>) {
        let trailer = bytes.count - Self.trailerSize
        guard trailer >= 0,
            let offsetSize = Self.integer(in: bytes, at: trailer + 6, size: 1),
            let referenceSize = Self.integer(in: bytes, at: trailer + 7, size: 1),
            let objectCount = Self.integer(in: bytes, at: trailer + 8, size: 8),
            let topObject = Self.integer(in: bytes, at: trailer + 16, size: 8),
            let table = Self.integer(in: bytes, at: trailer + 24, size: 8),
            1...8 ~= offsetSize, 1...8 ~= referenceSize, table <= trailer,
            // Every object has an entry in the table, so there are not more of them than bytes.
            objectCount <= (trailer - table) / offsetSize, topObject < objectCount
        else { return nil }
        self.bytes = bytes
        self.offsetSize = offsetSize
        self.referenceSize = referenceSize
        self.objectCount = objectCount
        self.topObject = topObject
        self.table = table
        findings = Array(repeating: .unknown, count: objectCount)
    }

    /// Why the decoder must not see the list; nil when it may.
    mutating func problem() -> String? {
        // Lists whose arrays and dictionaries are held once each are never larger than their bytes. Eight times
        // as much leaves room for writers that share them, and none for doubling at every level.
        let maximumValues = bytes.count.multipliedReportingOverflow(by: 8).partialValue
        var open: [Container] = []
        var next = topObject
        while true {
            var finished: (levels: Int, values: Int)?
            switch findings[next] {
            case .open:
                return "it contains itself"
            case .known(let levels, let values):
                finished = (levels, values)
            case .unknown:
                guard let container = container(next) else { return "an object lies outside of it" }
                if container.count == 0 {
                    findings[next] = .known(levels: container.levels, values: 1)
                    finished = (container.levels, 1)
                } else {
                    findings[next] = .open
                    open.append(container)
                    guard open.count <= PropertyListGuard.maximumDepth else {
                        return PropertyListGuard.tooDeep
                    }
                }
            }
            // Goes up as long as containers are complete, then to the next member.
            while true {
                guard var container = open.popLast() else { return nil }
                if let (levels, values) = finished {
                    container.levels = max(container.levels, levels + 1)
                    container.values += values
                    guard container.levels + open.count <= PropertyListGuard.maximumDepth else {
                        return PropertyListGuard.tooDeep
                    }
                    guard container.values <= maximumValues else { return "it repeats its parts too often" }
                    finished = nil
                }
                if container.next < container.count {
                    let place = container.references + container.next * referenceSize
                    guard let reference = Self.integer(in: bytes, at: place, size: referenceSize),
                        reference < objectCount
                    else { return "a reference leads outside of it" }
                    container.next += 1
                    open.append(container)
                    next = reference
                    break
                }
                findings[container.object] = .known(levels: container.levels, values: container.values)
                finished = (container.levels, container.values)
            }
        }
    }

    /// The references that an object holds, none for one that is no container; nil when it lies outside.
    private func container(_ object: Int) -> Container? {
        guard let offset = Self.integer(in: bytes, at: table + object * offsetSize, size: offsetSize),
            offset < table
        else { return nil }
        let marker = bytes[offset]
        // Arrays, ordered sets, sets, and dictionaries, which hold keys and values.
        guard 0xA...0xD ~= marker >> 4 else {
            return Container(object: object, references: 0, count: 0, levels: 0)
        }
        var start = offset + 1
        var count = Int(marker & 0xF)
        if count == 0xF {
            // The count follows as a number of 2^n bytes, marked 0x1n.
            guard start < table, bytes[start] >> 4 == 0x1, bytes[start] & 0xF <= 3 else { return nil }
            let size = 1 << Int(bytes[start] & 0xF)
            guard let long = Self.integer(in: bytes, at: start + 1, size: size) else { return nil }
            count = long
            start += 1 + size
        }
        let perMember = marker >> 4 == 0xD ? 2 : 1
        guard count <= (table - start) / (referenceSize * perMember) else { return nil }
        return Container(object: object, references: start, count: count * perMember)
    }

    /// A big-endian number; nil when it lies outside, or is larger than any place can be.
    private static func integer(in bytes: UnsafeBufferPointer<UInt8>, at place: Int, size: Int) -> Int? {
        guard place >= 0, place <= bytes.count - size else { return nil }
        var value: UInt64 = 0
        for byte in bytes[place..<(place + size)] { value = value << 8 | UInt64(byte) }
        return value <= UInt64(Int32.max) ? Int(value) : nil
    }
}
