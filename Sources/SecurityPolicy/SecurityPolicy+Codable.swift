import FoundationEssentials

extension SecurityPolicy: Codable {
    private enum Field: String, CodingKey, CaseIterable {
        case pinningMode, pinnedCertificates, pinnedCertificateFiles, pinnedPublicKeys,
            allowInvalidCertificates, validatesDomainName
        case trustAnchors, verificationDate, strictness, maximumIntermediates, revocationLists
        case stapledOCSP, pinEnforcement, pinExpiration
    }

    /// Reads a policy: certificates as base64 DER, pins as `sha256/…`.
    ///
    /// The pinning mode must be given; every other field has the default of the initializer. A field that this
    /// version does not know is refused, since it may be a misspelled pin or a restriction.
    ///
    /// - Throws: `DecodingError`, also for a certificate or a pin that cannot be made.
    public init(from decoder: any Decoder) throws {
        let known = Set(Field.allCases.map(\.rawValue))
        for field in try decoder.container(keyedBy: AnyKey.self).allKeys
        where !known.contains(field.stringValue) {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: decoder.codingPath + [field],
                    debugDescription: "A security policy has no field of this name."
                )
            )
        }
        let container = try decoder.container(keyedBy: Field.self)
        self.init(pinningMode: try SecurityPolicy.pinningMode(in: container))
        let certificates = try container.decodeIfPresent([Certificate].self, forKey: .pinnedCertificates)
        pinnedCertificates = Set(certificates ?? []).union(
            try SecurityPolicy.files(in: container, of: decoder)
        )
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

    /// The mode by AFNetworking's number, or by its name for files that people write.
    private static func pinningMode(in container: KeyedDecodingContainer<Field>) throws -> PinningMode {
        switch try? container.decode(String.self, forKey: .pinningMode) {
        case "none": return .none
        case "publicKey": return .publicKey
        case "certificate": return .certificate
        case nil: return try container.decode(PinningMode.self, forKey: .pinningMode)
        case .some:
            throw DecodingError.dataCorruptedError(
                forKey: .pinningMode,
                in: container,
                debugDescription: "The pinning mode is none, publicKey or certificate."
            )
        }
    }

    /// Certificates that a policy file names instead of carrying them.
    private static func files(
        in container: KeyedDecodingContainer<Field>,
        of decoder: any Decoder
    ) throws -> Set<Certificate> {
        guard container.contains(.pinnedCertificateFiles) else { return [] }
        guard let key = CodingUserInfoKey.certificateFolder, let folder = decoder.userInfo[key] as? String
        else {
            throw DecodingError.dataCorruptedError(
                forKey: .pinnedCertificateFiles,
                in: container,
                debugDescription: "Files can be named in a policy file only."
            )
        }
        var names = try container.nestedUnkeyedContainer(forKey: .pinnedCertificateFiles)
        var found: Set<Certificate> = []
        while !names.isAtEnd {
            let path = names.codingPath + [AnyKey(intValue: names.currentIndex)]
            let name = try names.decode(String.self)
            do {
                found.formUnion(
                    try Certificate.load(contentsOf: name.hasPrefix("/") ? name : "\(folder)/\(name)")
                )
            } catch {
                throw DecodingError.dataCorrupted(
                    .init(codingPath: path, debugDescription: "\(error)", underlyingError: error)
                )
            }
        }
        return found
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
