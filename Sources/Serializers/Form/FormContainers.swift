/// The members of an object; one generic method stands for all kinds of values.
struct FormKeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: FormTreeEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }

    func encodeNil(forKey key: Key) { member(key).encodeNil() }

    func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        try member(key).write(value)
    }

    func nestedContainer<NestedKey: CodingKey>(keyedBy type: NestedKey.Type, forKey key: Key)
        -> KeyedEncodingContainer<NestedKey>
    {
        member(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        member(key).unkeyedContainer()
    }

    func superEncoder() -> any Encoder {
        let key = FormKey.super
        return encoder.nested(encoder.node.member(key.stringValue), key: key)
    }

    func superEncoder(forKey key: Key) -> any Encoder { member(key) }

    private func member(_ key: Key) -> FormTreeEncoder {
        encoder.nested(encoder.node.member(key.stringValue), key: key)
    }
}

/// The elements of an array.
struct FormUnkeyedContainer: UnkeyedEncodingContainer {
    let encoder: FormTreeEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }
    var count: Int { encoder.node.elementCount }

    func encodeNil() { element().encodeNil() }

    func encode<T: Encodable>(_ value: T) throws { try element().write(value) }

    func nestedContainer<NestedKey: CodingKey>(keyedBy type: NestedKey.Type)
        -> KeyedEncodingContainer<NestedKey>
    {
        element().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { element().unkeyedContainer() }

    func superEncoder() -> any Encoder { element() }

    private func element() -> FormTreeEncoder {
        let key = FormKey(intValue: count)
        return encoder.nested(encoder.node.element(), key: key)
    }
}

/// A key that no type of the caller's declares: the index of an element, or `super`.
struct FormKey: CodingKey {
    static let `super` = FormKey(stringValue: "super")

    let stringValue: String
    let intValue: Int?

    init(stringValue: String) {
        self.stringValue = stringValue
        intValue = nil
    }

    init(intValue: Int) {
        stringValue = String(intValue)
        self.intValue = intValue
    }
}
