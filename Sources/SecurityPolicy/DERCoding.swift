import FoundationEssentials

/// How certificates and revocation lists are written: as one string, base64 of their DER.
enum DERCoding {
    /// Reads a value.
    /// - Parameters:
    ///   - decoder: Where it is written.
    ///   - name: What it is, with its article and a capital letter, for the error.
    ///   - make: Reads the DER.
    /// - Returns: The value.
    /// - Throws: `DecodingError.dataCorrupted` unless it is base64 of exactly one such value.
    static func decode<Value>(
        from decoder: any Decoder,
        _ name: String,
        _ make: (Data) throws -> Value
    ) throws -> Value {
        let container = try decoder.singleValueContainer()
        guard let der = Data(base64Encoded: try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "\(name) is written as base64 of its DER."
            )
        }
        do {
            return try make(der)
        } catch {
            throw DecodingError.dataCorrupted(
                .init(codingPath: container.codingPath, debugDescription: "\(error)", underlyingError: error)
            )
        }
    }

    /// Writes a value's DER.
    static func encode(_ der: Data, to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(der.base64EncodedString())
    }
}
