import FoundationEssentials

extension SecurityPolicy: Codable {
    private enum Field: String, CodingKey, CaseIterable {
        case pinningMode, pinnedCertificates, pinnedPublicKeys, allowInvalidCertificates, validatesDomainName
        case trustAnchors, verificationDate, strictness, maximumIntermediates, revocationLists
        case stapledOCSP, pinEnforcement, pinExpiration
    }

    private struct AnyField: CodingKey {
        let stringValue: String
        let intValue: Int?
        init(stringValue: String) {
            self.stringValue = stringValue
            intValue = nil
        }
        init?(intValue: Int) { nil }
    }

    /// Reads a policy: certificates as base64 DER, pins as `sha256/…`.
    ///
    /// The pinning mode must be given; every other field has the default of the initializer. A field that this
    /// version does not know is refused, since it may be a misspelt pin or a restriction.
    ///
    /// - Throws: `DecodingError`, also for a certificate or a pin that cannot be made.
    public init(from decoder: any Decoder) throws {
        let known = Set(Field.allCases.map(\.rawValue))
        for field in try decoder.container(keyedBy: AnyField.self).allKeys
        where !known.contains(field.stringValue) {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: decoder.codingPath + [field],
                    debugDescription: "A security policy has no field of this name."
                )
            )
        }
        let container = try decoder.container(keyedBy: Field.self)
        self.init(pinningMode: try container.decode(PinningMode.self, forKey: .pinningMode))
        let certificates = try container.decodeIfPresent([Certificate].self, forKey: .pinnedCertificates)
        pinnedCertificates = Set(certificates ?? [])
        pinnedPublicKeys = Set(
            try container.decodeIfPresent([PublicKeyPin].self, forKey: .pinnedPublicKeys) ?? []
        )
        if let flag = try container.decodeIfPresent(Bool.self, forKey: .allowInvalidCertificates) {
            allowInvalidCertificates = flag
        }
        if let flag = try container.decodeIfPresent(Bool.self, forKey: .validatesDomainName) {
            validatesDomainName = flag
        }
        if let anchors = try container.decodeIfPresent(TrustAnchors.self, forKey: .trustAnchors) {
            trustAnchors = anchors
        }
        verificationDate = try container.decodeIfPresent(Date.self, forKey: .verificationDate)
        strictness = try container.decodeIfPresent(Strictness.self, forKey: .strictness) ?? .standard
        if let limit = try container.decodeIfPresent(Int.self, forKey: .maximumIntermediates) {
            maximumIntermediates = limit
        }
        let lists = try container.decodeIfPresent([RevocationList].self, forKey: .revocationLists)
        revocationLists = Set(lists ?? [])
        stapledOCSP = try container.decodeIfPresent(StapledOCSP.self, forKey: .stapledOCSP) ?? .off
        pinEnforcement =
            try container.decodeIfPresent(PinEnforcement.self, forKey: .pinEnforcement) ?? .enforced
        pinExpiration = try container.decodeIfPresent(Date.self, forKey: .pinExpiration)
    }

    /// Writes every field, sets in a fixed order.
    ///
    /// - Throws: what the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Field.self)
        try container.encode(pinningMode, forKey: .pinningMode)
        try container.encode(pinnedCertificates.sortedByFingerprint, forKey: .pinnedCertificates)
        try container.encode(pinnedPublicKeys.map(\.description).sorted(), forKey: .pinnedPublicKeys)
        try container.encode(allowInvalidCertificates, forKey: .allowInvalidCertificates)
        try container.encode(validatesDomainName, forKey: .validatesDomainName)
        try container.encode(trustAnchors, forKey: .trustAnchors)
        try container.encodeIfPresent(verificationDate, forKey: .verificationDate)
        try container.encode(strictness, forKey: .strictness)
        try container.encode(maximumIntermediates, forKey: .maximumIntermediates)
        try container.encode(revocationLists.sortedByFingerprint, forKey: .revocationLists)
        try container.encode(stapledOCSP, forKey: .stapledOCSP)
        try container.encode(pinEnforcement, forKey: .pinEnforcement)
        try container.encodeIfPresent(pinExpiration, forKey: .pinExpiration)
    }
}
