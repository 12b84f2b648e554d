public import FoundationEssentials

extension JSONValue {
    /// Makes a whole number.
    public init(_ value: Int) { self = .int(Int64(value)) }
    /// Makes a whole number.
    public init(_ value: Int64) { self = .int(value) }
    /// Makes a whole number: `.int` as far as `Int64` holds it, else `.uint`.
    public init(_ value: UInt64) { self = Int64(exactly: value).map(JSONValue.int) ?? .uint(value) }
    /// Makes a number.
    ///
    /// NaN and infinite numbers can be held, but not written.
    public init(_ value: Double) { self = .double(value) }
    /// Makes a boolean.
    public init(_ value: Bool) { self = .bool(value) }
    /// Makes a string.
    public init(_ value: String) { self = .string(value) }
    /// Makes an array.
    public init(_ elements: [JSONValue]) { self = .array(elements) }
    /// Makes an object.
    public init(_ members: [String: JSONValue]) { self = .object(members) }

    /// Makes a tree of any encodable value, as the encoder writes it.
    /// - Parameters:
    ///   - value: The value.
    ///   - encoder: Decides about dates, data and key names; by default one with default settings.
    /// - Throws: ``SerializationError/invalidParameters(_:)`` when the value has no JSON form, such as NaN;
    ///   ``SerializationError/custom(_:)`` with the error of the value's own `encode(to:)`.
    public init(
        _ value: some Encodable,
        encoder: JSONEncoder = JSONEncoder()
    ) throws(SerializationError) {
        let data: Data
        do {
            data = try encoder.encode(value)
        } catch let error as EncodingError {
            throw .invalidParameters("\(type(of: value)) has no JSON form \(error.place)")
        } catch {
            throw .custom(error)
        }
        try self.init(parsing: data)
    }

    /// Makes a value of any decodable type of the tree.
    /// - Parameters:
    ///   - type: The type.
    ///   - decoder: Decides about dates, data and key names; by default one with default settings.
    /// - Returns: The value.
    /// - Throws: ``SerializationError/undecodable(type:underlying:)`` with the decoder's error when the tree is no
    ///   such value; ``SerializationError/invalidParameters(_:)`` when it cannot be written as JSON.
    public func decode<T: Decodable>(
        _ type: T.Type = T.self,
        decoder: JSONDecoder = JSONDecoder()
    ) throws(SerializationError) -> T {
        let text = try data([])
        do {
            return try decoder.knowing(JSONTreeSource(self)).decode(type, from: text)
        } catch {
            throw .undecodable(type: "\(type)", underlying: error)
        }
    }
}

extension EncodingError {
    /// Where in the value, and what the encoder says about it.
    var place: String {
        guard case .invalidValue(_, let context) = self else { return "" }
        let path = context.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }
        return
            "at \(path.isEmpty ? "its top level" : path.joined(separator: ".")): \(context.debugDescription)"
    }
}

extension JSONValue: Codable {
    /// Reads the value from any decoder.
    ///
    /// In what ``DecodableResponseSerializer`` and ``decode(_:decoder:)`` read it is taken from the text's own tree, unless
    /// the decoder changes key names. From others it has to be guessed, which takes the longer the deeper it stands. Of the
    /// kinds that a value could be, the first counts: null, string, array, object, boolean, whole number, number. Frequent
    /// kinds come first, since every wrong guess costs a decoder an error with the whole path in it.
    public init(from decoder: any Decoder) throws {
        if let key = JSONTreeSource.key, let source = decoder.userInfo[key] as? JSONTreeSource,
            let value = source.value(at: decoder.codingPath)
        {
            self = value
            return
        }
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if (try? decoder.unkeyedContainer()) != nil {
            self = .array(try container.decode([JSONValue].self))
        } else if (try? decoder.container(keyedBy: AnyKey.self)) != nil {
            // Not through the keyed container: it would change the keys where the decoder converts names.
            self = .object(try container.decode([String: JSONValue].self))
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .int(value)
        } else if let value = try? container.decode(UInt64.self) {
            self = .uint(value)
        } else {
            self = .double(try container.decode(Double.self))
        }
    }

    /// A key that is never looked up: it only asks whether a value is an object.
    private struct AnyKey: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// Writes the value to any encoder.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .int(let value): try container.encode(value)
        case .uint(let value): try container.encode(value)
        case .double(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let elements): try container.encode(elements)
        case .object(let members): try container.encode(members)
        }
    }
}
