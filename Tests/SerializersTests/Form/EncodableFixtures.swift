/// The structure of cases 301 and 305.
struct Everything: Encodable, Sendable {
    struct A<Value: Encodable & Sendable>: Encodable, Sendable { var a: Value }
    struct B: Encodable, Sendable { var b = "b" }

    var one = "one"
    var two = 2
    var three = true
    var four = [1, 2, 3]
    var five = ["a": "a"]
    var six = A(a: B())
    var seven = A(a: "a")
}

/// The superclass of cases 304 and 310.
class Parent: Encodable {
    let one = "one"
    let two = 2
    let three = true
}

/// The subclass of cases 304 and 310, which encodes its parent into the same object.
final class Child: Parent {
    private let four = [1, 2, 3]
    private let five = ["a": "a", "b": "b"]

    private enum CodingKeys: String, CodingKey { case four, five }

    override func encode(to encoder: any Encoder) throws {
        try super.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(four, forKey: .four)
        try container.encode(five, forKey: .five)
    }
}

/// The subclass of case 311, which encodes its parent by way of super encoders.
final class ChildWithSuperEncoders: Parent {
    private enum CodingKeys: String, CodingKey { case four, five }

    override func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(["a": "a", "b": "b"], forKey: .five)
        var inner = container.superEncoder(forKey: .four).container(keyedBy: CodingKeys.self)
        try inner.encode(one, forKey: .four)
        try inner.encode(two, forKey: .five)
    }
}

/// The structure of cases 302 and 313, which encodes arrays and objects of its own making.
struct Manual: Encodable, Sendable {
    private enum RootKey: String, CodingKey { case root }
    private enum AKey: String, CodingKey { case a }
    private enum StringKey: String, CodingKey { case string }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: RootKey.self)
        var root = container.nestedUnkeyedContainer(forKey: .root)
        try root.encode([1, 2, 3])
        var object = root.nestedContainer(keyedBy: AKey.self)
        var inner = object.nestedContainer(keyedBy: StringKey.self, forKey: .a)
        try inner.encode("string", forKey: .string)
        var array = root.nestedUnkeyedContainer()
        try array.encode([1, 2, 3])
    }
}

/// A structure with a member that may be nil.
struct OneAndMaybeTwo: Encodable, Sendable {
    var one = "one"
    var two: String?
}

/// A structure with a nil of every kind that has a method of its own in keyed containers.
struct AllNil: Encodable, Sendable {
    var bool: Bool?
    var double: Double?
    var float: Float?
    var int: Int?
    var int8: Int8?
    var int16: Int16?
    var int32: Int32?
    var int64: Int64?
    var object: OneAndMaybeTwo?
    var string: String?
    var uint: UInt?
    var uint8: UInt8?
    var uint16: UInt16?
    var uint32: UInt32?
    var uint64: UInt64?
}
