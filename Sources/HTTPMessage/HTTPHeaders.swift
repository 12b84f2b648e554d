/// Header fields: in order, with names compared without regard to case, repeated fields kept apart
/// (RFC 9110, section 5).
///
/// Setting a field never fails. A name that is no token, or a value with CR, LF or NUL, is found by
/// ``firstInvalidField`` and refused when the request is sent, before any traffic.
public struct HTTPHeaders: Sendable {
    /// One header field.
    public struct Field: Sendable, Hashable {
        /// The field's name as it was written last.
        public var name: String
        /// The field's value, without leading or trailing white space when it came from a server.
        public var value: String

        /// Makes a field.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    private enum Storage {
        case list([Field])
        /// What a server sent, until somebody changes it.
        case received(ReceivedFields)
    }

    private var storage = Storage.list([])

    /// All fields in the order in which they were added.
    public var fields: [Field] {
        switch storage {
        case .list(let fields): fields
        case .received(let fields): fields.list
        }
    }

    /// The same, to be changed where it is.
    private var list: [Field] {
        get { fields }
        _modify {
            var list = fields
            // Let go of here, so that the list has one owner and is changed where it is.
            storage = .list([])
            defer { storage = .list(list) }
            yield &list
        }
    }

    /// Makes an empty collection.
    public init() {}

    /// Makes a collection of the fields as they are, repeated names included.
    public init(fields: [Field]) {
        storage = .list(fields)
    }

    /// Makes a collection of the lines of a header section, with their ends: what a server sent.
    ///
    /// Lines without a token and a colon are skipped; one that begins with white space continues the one before (RFC
    /// 9112, section 5.2).
    package init(lines: [UInt8]) {
        self.init(lines: lines, isFolded: ReceivedFields.areFolded(lines))
    }

    /// The same, where somebody has looked already whether a line begins with white space.
    package init(lines: [UInt8], isFolded: Bool) {
        storage = isFolded ? .list(ReceivedFields.read(lines)) : .received(ReceivedFields(lines))
    }

    /// The first value of a field.
    ///
    /// Setting replaces every field of that name by one with the new spelling, in the place of the first;
    /// setting nil removes them all.
    public subscript(name: String) -> String? {
        get {
            switch storage {
            case .list(let fields): fields.first { $0.name.equalsIgnoringASCIICase(name) }?.value
            case .received(let fields): fields.value(of: name)
            }
        }
        set { self[values: name] = newValue.map { [$0] } ?? [] }
    }

    /// Every value of a field, in order, never joined by commas.
    ///
    /// Setting replaces all fields of that name.
    public subscript(values name: String) -> [String] {
        get {
            switch storage {
            case .list(let fields): fields.filter { $0.name.equalsIgnoringASCIICase(name) }.map(\.value)
            case .received(let fields): fields.values(of: name)
            }
        }
        set {
            let place = fields.firstIndex { $0.name.equalsIgnoringASCIICase(name) } ?? fields.count
            list.removeAll { $0.name.equalsIgnoringASCIICase(name) }
            list.insert(contentsOf: newValue.map { Field(name: name, value: $0) }, at: place)
        }
    }

    /// Appends a field and keeps those of the same name that are there already.
    public mutating func add(_ value: String, for name: String) {
        list.append(Field(name: name, value: value))
    }

    /// Removes every field of that name.
    public mutating func remove(_ name: String) {
        list.removeAll { $0.name.equalsIgnoringASCIICase(name) }
    }

    /// Whether there is a field of that name.
    public func contains(_ name: String) -> Bool {
        switch storage {
        case .list(let fields): fields.contains { $0.name.equalsIgnoringASCIICase(name) }
        case .received(let fields): fields.contains(name)
        }
    }

    /// Calls a closure with the bytes of every value of a field, in order.
    package func forEachValue(of name: String, _ body: (UnsafeRawBufferPointer) -> Void) {
        switch storage {
        case .received(let fields): fields.forEachValue(of: name, body)
        case .list(let fields):
            for field in fields where field.name.equalsIgnoringASCIICase(name) {
                var value = field.value
                value.withUTF8 { body(UnsafeRawBufferPointer($0)) }
            }
        }
    }

    /// Takes over every field of another collection; of a name that both have, the other's fields win.
    public mutating func replace(with other: HTTPHeaders) {
        guard !other.isEmpty else { return }
        for field in other.fields { remove(field.name) }
        list += other.fields
    }

    /// Whether both are one and the same piece of memory, and so equal to the last byte; false says nothing.
    package func isIdentical(to other: HTTPHeaders) -> Bool {
        switch (storage, other.storage) {
        case (.list(let left), .list(let right)):
            left.withUnsafeBufferPointer { left in
                right.withUnsafeBufferPointer { right in
                    left.count == right.count && (left.isEmpty || left.baseAddress == right.baseAddress)
                }
            }
        case (.received(let left), .received(let right)): left === right
        default: false
        }
    }

    /// Whether there are no fields.
    public var isEmpty: Bool {
        switch storage {
        case .list(let fields): fields.isEmpty
        case .received(let fields): fields.list.isEmpty
        }
    }

    /// The number of fields, repeated ones counted each.
    public var count: Int { fields.count }

    /// The first field that may not be sent: its name is no token (RFC 9110, section 5.6.2), or its value
    /// holds CR, LF or NUL (section 5.5).
    ///
    /// Nil when all may be sent.
    public var firstInvalidField: Field? {
        fields.first { !$0.name.isHTTPToken || !$0.value.isHTTPFieldValue }
    }
}

extension HTTPHeaders: Hashable {
    /// Two collections are equal when they hold the same fields in the same order, names compared without
    /// regard to case and values by their bytes.
    public static func == (left: HTTPHeaders, right: HTTPHeaders) -> Bool {
        left.isIdentical(to: right)
            || left.fields.elementsEqual(right.fields) {
                $0.value.utf8.elementsEqual($1.value.utf8) && $0.name.equalsIgnoringASCIICase($1.name)
            }
    }

    /// Hashes the values only: names that differ in case are equal.
    public func hash(into hasher: inout Hasher) {
        for field in fields { hasher.combine(field.value) }
    }
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral {
    /// Makes a collection of a literal.
    ///
    /// A name that is there twice, whatever its case, keeps its place and the last value.
    public init(dictionaryLiteral elements: (String, String)...) {
        for (name, value) in elements { self[name] = value }
    }
}

extension HTTPHeaders: Sequence {
    /// Iterates over the fields in order.
    public func makeIterator() -> Array<Field>.Iterator {
        fields.makeIterator()
    }
}

extension HTTPHeaders: CustomStringConvertible {
    /// One `Name: value` a line.
    ///
    /// It shows every value: do not log it where credentials are at stake.
    public var description: String {
        fields.map { "\($0.name): \($0.value)" }.joined(separator: "\n")
    }
}
