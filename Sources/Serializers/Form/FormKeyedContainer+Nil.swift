/// Members that may be nil: the protocol's own methods leave them out, but what becomes of nil is an option.
///
/// One method for each type, since the protocol has one for each and a generic one does not stand for them.
extension FormKeyedContainer {
    func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { try write(value, for: key) }
    func encodeIfPresent(_ value: String?, forKey key: Key) throws { try write(value, for: key) }
    func encodeIfPresent(_ value: Double?, forKey key: Key) throws { try write(value, for: key) }
    func encodeIfPresent(_ value: Float?, forKey key: Key) throws { try write(value, for: key) }
    func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try write(value, for: key) }
    func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try write(value, for: key) }
    func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { try write(value, for: key) }
    func encodeIfPresent(_ value: Int32?, forKey key: Key) throws { try write(value, for: key) }
    func encodeIfPresent(_ value: Int64?, forKey key: Key) throws { try write(value, for: key) }
    func encodeIfPresent(_ value: Int128?, forKey key: Key) throws { try write(value, for: key) }
    func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try write(value, for: key) }
    func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { try write(value, for: key) }
    func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws { try write(value, for: key) }
    func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws { try write(value, for: key) }
    func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws { try write(value, for: key) }
    func encodeIfPresent(_ value: UInt128?, forKey key: Key) throws { try write(value, for: key) }
    func encodeIfPresent<T: Encodable>(_ value: T?, forKey key: Key) throws { try write(value, for: key) }

    private func write(_ value: (some Encodable)?, for key: Key) throws {
        guard let value else { return encodeNil(forKey: key) }
        try encode(value, forKey: key)
    }
}
