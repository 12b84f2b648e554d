import Glibc
import Synchronization

/// Header fields as they arrived: read as far as somebody asks.
///
/// Most of what servers send is never looked at, and two strings for each field are a tenth of a small request.
final class ReceivedFields: Sendable {
    private final class Fields: Sendable {
        let list: [HTTPHeaders.Field]

        init(_ list: [HTTPHeaders.Field]) {
            self.list = list
        }
    }

    private let lines: [UInt8]
    private let all = AtomicLazyReference<Fields>()

    /// Takes lines with their ends, each of which is a field; those that are none are skipped.
    init(_ lines: [UInt8]) {
        self.lines = lines
    }

    /// Whether a line continues the one before (obs-fold, RFC 9112, section 5.2), so that a field is not one line.
    static func areFolded(_ lines: [UInt8]) -> Bool {
        lines.withUnsafeBytes { bytes in
            ReceivedFields.lines(of: bytes).contains { ReceivedFields.isContinuation($0) }
        }
    }

    /// All fields; made once.
    var list: [HTTPHeaders.Field] {
        if let fields = all.load() { return fields.list }
        return all.storeIfNil(Fields(ReceivedFields.read(lines))).list
    }

    /// The first value of a field.
    func value(of name: String) -> String? {
        if let fields = all.load() {
            return fields.list.first { $0.name.equalsIgnoringASCIICase(name) }?.value
        }
        var text: String?
        search(for: name) { value in
            text = ReceivedFields.text(value)
            return true
        }
        return text
    }

    /// Every value of a field, in order.
    func values(of name: String) -> [String] {
        var values: [String] = []
        forEachValue(of: name) { values.append(ReceivedFields.text($0)) }
        return values
    }

    /// Calls a closure with the bytes of every value of a field, in order.
    func forEachValue(of name: String, _ body: (UnsafeRawBufferPointer) -> Void) {
        search(for: name) { value in
            body(value)
            return false
        }
    }

    /// Whether there is a field of that name.
    func contains(_ name: String) -> Bool {
        var isThere = false
        search(for: name) { _ in
            isThere = true
            return true
        }
        return isThere
    }

    /// Calls a closure with the bytes of the values of a field, in order, until it has found what it sought.
    ///
    /// Each request asks for some fields, and nearly every line is another one's: those are told by the one byte where
    /// the colon would be.
    @inline(__always)
    private func search(for name: String, _ isFound: (UnsafeRawBufferPointer) -> Bool) {
        let count = name.utf8.count
        lines.withUnsafeBytes { bytes in
            guard count > 0, let base = bytes.baseAddress else { return }
            var start = 0
            while start < bytes.count {
                let feed = memchr(base + start, 0x0A, bytes.count - start)
                let end = feed.map { UnsafeRawPointer($0) - base } ?? bytes.count
                if start + count < end, bytes[start + count] == 0x3A {
                    let line = UnsafeRawBufferPointer(start: base + start, count: end - start)
                    if let value = ReceivedFields.value(in: line, of: name), isFound(value) { return }
                }
                start = end + 1
            }
        }
    }

    // MARK: Bytes

    /// Reads all fields.
    static func read(_ lines: [UInt8]) -> [HTTPHeaders.Field] {
        lines.withUnsafeBytes { bytes in
            var fields: [HTTPHeaders.Field] = []
            fields.reserveCapacity(12)
            for line in ReceivedFields.lines(of: bytes) {
                if isContinuation(line) {
                    // One space stands for the fold.
                    if !fields.isEmpty { fields[fields.count - 1].value += " " + text(trimmed(line)) }
                } else if let (name, value) = split(line) {
                    fields.append(
                        HTTPHeaders.Field(
                            name: String(decoding: name, as: UTF8.self),
                            value: text(trimmed(value))
                        )
                    )
                }
            }
            return fields
        }
    }

    /// The lines of a section, without their line feeds.
    private struct Lines: Sequence, IteratorProtocol {
        var rest: UnsafeRawBufferPointer

        mutating func next() -> UnsafeRawBufferPointer? {
            guard !rest.isEmpty else { return nil }
            guard let start = rest.baseAddress else { return nil }
            // A section has a dozen lines and is gone through for each field that is asked for.
            let end = memchr(start, 0x0A, rest.count).map { UnsafeRawPointer($0) - start } ?? rest.count
            defer { rest = UnsafeRawBufferPointer(rebasing: rest[Swift.min(end + 1, rest.count)...]) }
            return UnsafeRawBufferPointer(rebasing: rest[..<end])
        }
    }

    private static func lines(of bytes: UnsafeRawBufferPointer) -> Lines { Lines(rest: bytes) }

    private static func isContinuation(_ line: UnsafeRawBufferPointer) -> Bool {
        line.first == 0x20 || line.first == 0x09
    }

    /// The name and the untrimmed value of a line; nil when it is no field.
    private static func split(
        _ line: UnsafeRawBufferPointer
    ) -> (name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)? {
        guard let colon = line.firstIndex(of: 0x3A), colon > 0 else { return nil }
        let name = UnsafeRawBufferPointer(rebasing: line[..<colon])
        guard name.allSatisfy(\.isTokenByte) else { return nil }
        return (name, UnsafeRawBufferPointer(rebasing: line[(colon + 1)...]))
    }

    /// The trimmed value of a line if it is the field of that name, which must be a token to be found.
    private static func value(in line: UnsafeRawBufferPointer, of name: String) -> UnsafeRawBufferPointer? {
        let count = name.utf8.count
        guard count > 0, line.count > count, line[count] == 0x3A else { return nil }
        let field = UnsafeRawBufferPointer(rebasing: line[..<count])
        guard field.isToken(equalTo: name) else { return nil }
        return trimmed(UnsafeRawBufferPointer(rebasing: line[(count + 1)...]))
    }

    private static func trimmed(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }
        guard let first = bytes.firstIndex(where: { !isSpace($0) }),
            let last = bytes.lastIndex(where: { !isSpace($0) })
        else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        return UnsafeRawBufferPointer(rebasing: bytes[first...last])
    }

    /// UTF-8 where it is that, else ISO-8859-1, as which fields were once defined (RFC 9110, section 5.5).
    ///
    /// A CR or NUL in the middle becomes a space, as that section demands: another program may take it for a line's end.
    private static func text(_ bytes: UnsafeRawBufferPointer) -> String {
        // Most are ASCII, which is UTF-8, and validating through the generic initializer takes ten times as long.
        if bytes.allSatisfy({ $0 < 0x80 && $0 != 0x0D && $0 != 0 }) {
            return String(decoding: bytes.bindMemory(to: UInt8.self), as: UTF8.self)
        }
        if bytes.contains(where: { $0 == 0x0D || $0 == 0 }) {
            return bytes.map { $0 == 0x0D || $0 == 0 ? 0x20 : $0 }.withUnsafeBytes { text($0) }
        }
        return String(validating: bytes, as: UTF8.self)
            ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }
}

extension UnsafeRawBufferPointer {
    /// Whether these bytes are a token and the same as a name of their length but for the case of A–Z.
    fileprivate func isToken(equalTo name: String) -> Bool {
        name.utf8.withContiguousStorageIfAvailable { name in
            guard name.count == count else { return false }
            for index in 0..<count {
                let byte = self[index]
                guard byte == name[index] || byte.asciiLowercased == name[index].asciiLowercased,
                    byte.isTokenByte
                else { return false }
            }
            return true
        } ?? zip(self, name.utf8).allSatisfy { $0.asciiLowercased == $1.asciiLowercased && $0.isTokenByte }
    }
}
