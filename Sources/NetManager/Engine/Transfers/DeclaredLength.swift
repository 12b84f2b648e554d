import HTTPMessage

/// The length of the content that a response declares (RFC 9110, section 8.6).
///
/// libcurl believes the digits that a field begins with and looks no further.
struct DeclaredLength {
    /// In bytes; nil when the response declares none.
    let bytes: Int64?

    /// Reads all fields and all members of their lists.
    ///
    /// Nil when one is no length of 64 bits, or when two differ (RFC 9112, section 6.3). The same length said twice
    /// is that length.
    init?(_ headers: HTTPHeaders) {
        var lines = Lines()
        headers.forEachValue(of: "Content-Length") { lines.take(value: $0) }
        guard lines.areGood else { return nil }
        bytes = lines.length
    }

    /// Takes what was read line by line; nil as for ``init(_:)``.
    init?(_ lines: Lines) {
        guard lines.areGood else { return nil }
        bytes = lines.length
    }

    /// The fields of a section, read as they come.
    struct Lines {
        private static let name: StaticString = "content-length:"

        fileprivate private(set) var length: Int64?
        /// Whether all of them hold lengths, and the same one.
        fileprivate private(set) var areGood = true

        /// Takes a line that is no continuation of the one before, with its end; any other field is passed over.
        mutating func take(line: UnsafeRawBufferPointer) {
            let count = Self.name.utf8CodeUnitCount
            // Nearly all other fields have no colon there.
            guard line.count > count, line[count - 1] == UInt8(ascii: ":") else { return }
            for index in 0..<count where line[index].asciiLowercased != Self.name.utf8Start[index] { return }
            var end = line.count
            while end > count, line[end - 1] == 0x0A || line[end - 1] == 0x0D { end -= 1 }
            take(value: UnsafeRawBufferPointer(rebasing: line[count..<end]))
        }

        fileprivate mutating func take(value: UnsafeRawBufferPointer) {
            areGood = areGood && DeclaredLength.read(value, into: &length)
        }
    }

    /// Reads one field.
    /// - Returns: False when it holds something else than lengths, or another length than the fields before.
    private static func read(_ value: UnsafeRawBufferPointer, into length: inout Int64?) -> Bool {
        var rest = value[...]
        while true {
            guard let number = takeNumber(&rest), length ?? number == number else { return false }
            length = number
            // A comma follows, or nothing.
            if rest.popFirst() == nil { return true }
        }
    }

    /// Takes digits with white space around them; nil unless a comma or the end follows.
    private static func takeNumber(_ rest: inout Slice<UnsafeRawBufferPointer>) -> Int64? {
        func takeSpace() {
            while rest.first == 0x20 || rest.first == 0x09 { rest.removeFirst() }
        }
        takeSpace()
        guard rest.first.map(isDigit) == true else { return nil }
        var number: Int64 = 0
        while let byte = rest.first, isDigit(byte) {
            let (product, overflows) = number.multipliedReportingOverflow(by: 10)
            let (sum, alsoOverflows) = product.addingReportingOverflow(Int64(byte - UInt8(ascii: "0")))
            guard !overflows, !alsoOverflows else { return nil }
            number = sum
            rest.removeFirst()
        }
        takeSpace()
        return rest.first == nil || rest.first == UInt8(ascii: ",") ? number : nil
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
    }
}
