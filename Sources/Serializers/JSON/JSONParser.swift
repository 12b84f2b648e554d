/// Reads one JSON text (RFC 8259) into a tree.
///
/// It keeps its own stack: nesting costs heap, not the thread's stack. It walks the bytes once, and no step
/// depends on how many came before.
struct JSONParser: ~Copyable {
    /// How deep arrays and objects may be nested.
    ///
    /// Trees are compared, written and released recursively: 512 levels fit the smallest thread stacks in use,
    /// and Foundation's reader has the same limit.
    static let maximumDepth = 512

    /// An array or object that is not closed yet.
    private struct Container {
        let isObject: Bool
        let firstValue: Int
        /// The keys of an object so far; nil when they stand in `keys`.
        var place: JSONKeySequences.Place? = .root
        var firstKey = 0
    }

    let bytes: UnsafeBufferPointer<UInt8>
    var position = 0
    /// Bytes of a string with escapes; kept between strings for its capacity.
    var scratch: [UInt8] = []
    /// The values of all open containers, those of the innermost last.
    private var values: JSONValueStack
    private var sequences = JSONKeySequences()
    /// The keys of open objects that are no known sequence.
    private var keys: [String] = []
    private var containers: [Container] = []

    /// Makes a reader of a text.
    /// - Parameters:
    ///   - bytes: The text; it must outlive the reader.
    ///   - keepsFirst: Whether of a key that is there twice the first value counts, instead of the last.
    init(_ bytes: UnsafeBufferPointer<UInt8>, keepsFirst: Bool) {
        self.bytes = bytes
        values = JSONValueStack(keepsFirst: keepsFirst)
        containers.reserveCapacity(16)
    }

    /// Reads the whole text: one value with white space around it, after a byte order mark if there is one.
    mutating func parse() throws(SerializationError) -> JSONValue {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
        while true {
            let isComplete = try readValue()
            if isComplete, try finishContainers() { break }
        }
        skipWhitespace()
        guard position == bytes.count else { throw malformed("there is more behind the value") }
        guard let value = values.pop() else { throw malformed("a value was expected") }
        return value
    }

    /// Reads a scalar or opens a container; false when a container was opened, whose first value comes next.
    @inline(__always)
    private mutating func readValue() throws(SerializationError) -> Bool {
        skipWhitespace()
        guard position < bytes.count else { throw malformed("the text ends where a value was expected") }
        switch bytes[position] {
        case UInt8(ascii: "{"):
            return try open(isObject: true)
        case UInt8(ascii: "["):
            return try open(isObject: false)
        case UInt8(ascii: "\""):
            values.push(.string(try readString()))
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            values.push(try readNumber())
        case UInt8(ascii: "t"):
            try readWord("true")
            values.push(.bool(true))
        case UInt8(ascii: "f"):
            try readWord("false")
            values.push(.bool(false))
        case UInt8(ascii: "n"):
            try readWord("null")
            values.push(.null)
        default:
            throw malformed("a value was expected")
        }
        return true
    }

    /// Opens a container; true when it is empty and thus complete.
    private mutating func open(isObject: Bool) throws(SerializationError) -> Bool {
        guard containers.count < Self.maximumDepth else {
            throw malformed("arrays and objects are nested deeper than \(Self.maximumDepth) levels")
        }
        position += 1
        skipWhitespace()
        if take(isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) {
            values.push(isObject ? .object([:]) : .array([]))
            return true
        }
        containers.append(Container(isObject: isObject, firstValue: values.count))
        if isObject { try readKey() }
        return false
    }

    /// Goes on behind a complete value: closes what ends here and moves to the next value.
    ///
    /// True when the outermost value is complete.
    @inline(__always)
    private mutating func finishContainers() throws(SerializationError) -> Bool {
        while let isObject = containers.last?.isObject {
            skipWhitespace()
            guard position < bytes.count else {
                throw malformed("the text ends inside an array or object")
            }
            let byte = bytes[position]
            if byte == UInt8(ascii: ",") {
                position += 1
                if isObject {
                    skipWhitespace()
                    try readKey()
                }
                return false
            }
            guard byte == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else {
                throw malformed("a comma or the end of the array or object was expected")
            }
            position += 1
            close(containers.removeLast())
        }
        return true
    }

    private mutating func close(_ container: Container) {
        guard container.isObject else {
            let elements = values.popArray(from: container.firstValue)
            values.push(.array(elements))
            return
        }
        let members: [String: JSONValue]
        if let place = container.place {
            members = sequences.members(
                at: place,
                of: &values,
                from: container.firstValue,
                isElement: containers.last?.isObject == false
            )
        } else {
            members = values.popMembers(from: container.firstValue, keys: keys[container.firstKey...])
            keys.removeSubrange(container.firstKey...)
        }
        values.push(.object(members))
    }

    /// Reads a key of the innermost container, and the colon behind it.
    private mutating func readKey() throws(SerializationError) {
        guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else {
            throw malformed("a key in quotes was expected")
        }
        let innermost = containers.count - 1
        if var place = containers[innermost].place {
            if let end = sequences.advance(&place, in: bytes, at: position + 1) {
                position = end
                containers[innermost].place = place
            } else {
                try readNewKey(after: place, innermost)
            }
        } else {
            keys.append(try readString())
        }
        skipWhitespace()
        guard take(UInt8(ascii: ":")) else { throw malformed("a colon was expected behind the key") }
    }

    /// Reads a key that no object has had behind the same other keys.
    private mutating func readNewKey(
        after place: JSONKeySequences.Place,
        _ container: Int
    ) throws(SerializationError) {
        let start = position + 1
        let key = try readString()
        var next = place
        if sequences.extend(&next, by: key, text: start..<(position - 1)) {
            containers[container].place = next
        } else {
            containers[container].place = nil
            containers[container].firstKey = keys.count
            keys.append(contentsOf: sequences.keys(to: place))
            keys.append(key)
        }
    }

    @inline(__always)
    private mutating func readWord(_ word: StaticString) throws(SerializationError) {
        let length = word.utf8CodeUnitCount
        guard bytes.count - position >= length else { throw malformed("a value was expected") }
        for index in 1..<length where bytes[position + index] != word.utf8Start[index] {
            throw malformed("a value was expected")
        }
        position += length
    }

    /// Moves over white space (RFC 8259, section 2).
    @inline(__always)
    private mutating func skipWhitespace() {
        // Most often there is none.
        guard position < bytes.count, bytes[position] <= 0x20 else { return }
        skipMoreWhitespace()
    }

    private mutating func skipMoreWhitespace() {
        let spaces: UInt64 = 0x2020_2020_2020_2020
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x0A, 0x0D, 0x09: position += 1
            default: return
            }
            // Indented texts hold long runs of spaces.
            while bytes.count - position >= 8 {
                let others = word(at: position) ^ spaces
                guard others == 0 else {
                    position += others.trailingZeroBitCount >> 3
                    break
                }
                position += 8
            }
        }
    }

    /// Eight bytes, the first one lowest; there must be as many.
    @inline(__always)
    func word(at index: Int) -> UInt64 {
        UInt64(
            littleEndian: UnsafeRawBufferPointer(bytes).loadUnaligned(fromByteOffset: index, as: UInt64.self)
        )
    }

    /// Moves over the byte if it comes next.
    @inline(__always)
    mutating func take(_ byte: UInt8) -> Bool {
        guard position < bytes.count, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    /// The error for what is wrong at the current position.
    func malformed(_ reason: String) -> SerializationError {
        .malformedJSON(reason: reason, offset: position)
    }
}
