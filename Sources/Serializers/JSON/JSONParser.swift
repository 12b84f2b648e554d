/// Reads one JSON text (RFC 8259) into a tree.
///
/// It keeps its own stack: nesting costs heap, not the thread's stack. It walks the bytes once, and no step
/// depends on how many came before.
struct JSONParser {
    /// How deep arrays and objects may be nested.
    ///
    /// Trees are compared, written and released recursively: 512 levels fit the smallest thread stacks in use,
    /// and Foundation's reader has the same limit.
    static let maximumDepth = 512

    /// An array or object that is not closed yet.
    private struct Container {
        let isObject: Bool
        let firstValue: Int
        let firstKey: Int
    }

    let bytes: UnsafeBufferPointer<UInt8>
    var position = 0
    /// Bytes of a string with escapes; kept between strings for its capacity.
    var scratch: [UInt8] = []
    /// The values of all open containers, those of the innermost last.
    private var values: [JSONValue] = []
    private var keys: [String] = []
    private var containers: [Container] = []

    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
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
        guard let value = values.popLast() else { throw malformed("a value was expected") }
        return value
    }

    /// Reads a scalar or opens a container; false when a container was opened, whose first value comes next.
    private mutating func readValue() throws(SerializationError) -> Bool {
        skipWhitespace()
        guard position < bytes.count else { throw malformed("the text ends where a value was expected") }
        switch bytes[position] {
        case UInt8(ascii: "{"):
            return try open(isObject: true)
        case UInt8(ascii: "["):
            return try open(isObject: false)
        case UInt8(ascii: "\""):
            values.append(.string(try readString()))
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            values.append(try readNumber())
        case UInt8(ascii: "t"):
            try readWord("true")
            values.append(.bool(true))
        case UInt8(ascii: "f"):
            try readWord("false")
            values.append(.bool(false))
        case UInt8(ascii: "n"):
            try readWord("null")
            values.append(.null)
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
            values.append(isObject ? .object([:]) : .array([]))
            return true
        }
        containers.append(Container(isObject: isObject, firstValue: values.count, firstKey: keys.count))
        if isObject { try readKey() }
        return false
    }

    /// Goes on behind a complete value: closes what ends here and moves to the next value.
    ///
    /// True when the outermost value is complete.
    private mutating func finishContainers() throws(SerializationError) -> Bool {
        while let container = containers.last {
            skipWhitespace()
            guard position < bytes.count else {
                throw malformed("the text ends inside an array or object")
            }
            let byte = bytes[position]
            if byte == UInt8(ascii: ",") {
                position += 1
                if container.isObject {
                    skipWhitespace()
                    try readKey()
                }
                return false
            }
            guard byte == (container.isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else {
                throw malformed("a comma or the end of the array or object was expected")
            }
            position += 1
            containers.removeLast()
            close(container)
        }
        return true
    }

    private mutating func close(_ container: Container) {
        let firstValue = container.firstValue
        guard container.isObject else {
            let elements = Array(values[firstValue...])
            values.removeSubrange(firstValue...)
            values.append(.array(elements))
            return
        }
        var members: [String: JSONValue] = [:]
        members.reserveCapacity(values.count - firstValue)
        for (key, value) in zip(keys[container.firstKey...], values[firstValue...]) {
            members[key] = value
        }
        keys.removeSubrange(container.firstKey...)
        values.removeSubrange(firstValue...)
        values.append(.object(members))
    }

    private mutating func readKey() throws(SerializationError) {
        guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else {
            throw malformed("a key in quotes was expected")
        }
        keys.append(try readString())
        skipWhitespace()
        guard take(UInt8(ascii: ":")) else { throw malformed("a colon was expected behind the key") }
    }

    private mutating func readWord(_ word: StaticString) throws(SerializationError) {
        let length = word.utf8CodeUnitCount
        guard bytes.count - position >= length,
            bytes[position..<(position + length)]
                .elementsEqual(UnsafeBufferPointer(start: word.utf8Start, count: length))
        else { throw malformed("a value was expected") }
        position += length
    }

    /// Moves over white space (RFC 8259, section 2).
    private mutating func skipWhitespace() {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x0A, 0x0D, 0x09: position += 1
            default: return
            }
        }
    }

    /// Moves over the byte if it comes next.
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
