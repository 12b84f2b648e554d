import FoundationEssentials

extension HTTPHeaders {
    /// Sets `Authorization` to a user and a password (RFC 7617), as UTF-8.
    ///
    /// They are encoded, not encrypted: send them over https only.
    /// - Parameters:
    ///   - user: The name. A colon in it cannot be told from the one that ends it.
    ///   - password: The password; it may hold colons.
    public mutating func setBasicAuthorization(user: String, password: String) {
        self["Authorization"] = "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
    }

    /// Sets `Authorization` to a token (RFC 6750).
    ///
    /// - Parameter token: The token as it was issued. CR, LF and NUL in it are refused when it is sent.
    public mutating func setBearerAuthorization(_ token: String) {
        self["Authorization"] = "Bearer " + token
    }

    /// Removes `Authorization`, whatever its scheme.
    public mutating func removeAuthorization() {
        remove("Authorization")
    }
}
