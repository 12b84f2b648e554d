import FoundationEssentials

/// The encoder that an `Encodable` value writes itself to, and its container for a single value.
struct FormTreeEncoder: Encoder, SingleValueEncodingContainer {
    let node: FormNode
    let options: URLEncodedFormEncoder
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        node.becomeObject()
        return KeyedEncodingContainer(FormKeyedContainer(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        node.becomeArray()
        return FormUnkeyedContainer(encoder: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    /// The encoder of a member or an element.
    func nested(_ node: FormNode, key: any CodingKey) -> FormTreeEncoder {
        FormTreeEncoder(node: node, options: options, codingPath: codingPath + [key])
    }

    /// Writes any value, those that have a style of their own included.
    func write(_ value: some Encodable) throws {
        guard codingPath.count < QueryEncoder.depthLimit else {
            throw SerializationError.invalidParameters(
                "more than \(QueryEncoder.depthLimit) levels in one another"
            )
        }
        switch value {
        case let date as Date: try write(date)
        case let data as Data: try write(data)
        case let decimal as Decimal: node.content = .text(decimal.description)
        case let url as URL: node.content = .text(url.absoluteString)
        default: try value.encode(to: self)
        }
    }

    private func write(_ date: Date) throws {
        switch options.dateStyle {
        case .deferred: try date.encode(to: self)
        case .secondsSince1970: try encode(date.timeIntervalSince1970)
        case .millisecondsSince1970: try encode(date.timeIntervalSince1970 * 1000)
        case .iso8601: node.content = .text(date.formatted(.iso8601))
        case .custom(let text): node.content = .text(try text(date))
        }
    }

    private func write(_ data: Data) throws {
        switch options.dataStyle {
        case .base64: node.content = .text(data.base64EncodedString())
        case .deferred: try data.encode(to: self)
        case .custom(let text): node.content = .text(try text(data))
        }
    }

    func encodeNil() { node.content = .null }
    func encode(_ value: Bool) { node.content = .text(options.boolStyle.text(value)) }
    func encode(_ value: String) { node.content = .text(value) }
    func encode(_ value: Double) throws { try write(number: value) }
    func encode(_ value: Float) throws { try write(number: value) }
    func encode(_ value: Int) { write(integer: value) }
    func encode(_ value: Int8) { write(integer: value) }
    func encode(_ value: Int16) { write(integer: value) }
    func encode(_ value: Int32) { write(integer: value) }
    func encode(_ value: Int64) { write(integer: value) }
    func encode(_ value: Int128) { write(integer: value) }
    func encode(_ value: UInt) { write(integer: value) }
    func encode(_ value: UInt8) { write(integer: value) }
    func encode(_ value: UInt16) { write(integer: value) }
    func encode(_ value: UInt32) { write(integer: value) }
    func encode(_ value: UInt64) { write(integer: value) }
    func encode(_ value: UInt128) { write(integer: value) }
    func encode<T: Encodable>(_ value: T) throws { try write(value) }

    private func write(integer value: some BinaryInteger) {
        node.content = .text(String(value))
    }

    private func write<Number: BinaryFloatingPoint & LosslessStringConvertible>(number value: Number) throws {
        guard value.isFinite else {
            throw SerializationError.invalidParameters(
                "a number that is infinite or not a number has no form"
            )
        }
        node.content = .text(value.description)
    }
}
