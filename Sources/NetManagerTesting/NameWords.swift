/// The words that a name is made of.
enum NameWords {
    /// Words that speak of a credential by themselves.
    private static let secrets: Set<String> = [
        "authorization", "cookie", "token", "tokens", "secret", "secrets", "password", "passwords", "passwd",
        "pwd", "passphrase", "apikey", "jwt", "otp", "signature", "credential", "credentials", "session",
        "sessionid", "accesstoken", "refreshtoken", "clientsecret",
    ]
    /// Words that do so together.
    private static let secretPairs: Set<String> = ["api key", "access key", "private key", "secret key"]

    /// Whether one of the words, or two that follow each other, speak of a credential.
    static func areSecret(_ name: String) -> Bool {
        let words = words(of: name)
        return words.contains(where: secrets.contains)
            || zip(words, words.dropFirst()).contains { secretPairs.contains("\($0) \($1)") }
    }

    /// `accessToken`, `access_token` and `Access-Token` are two words each.
    private static func words(of name: String) -> [String] {
        var words: [String] = []
        var word = ""
        var wasLower = false
        for letter in name {
            let isUpper = letter.isUppercase
            if !letter.isLetter && !letter.isNumber || isUpper && wasLower {
                if !word.isEmpty { words.append(word) }
                word = ""
            }
            if letter.isLetter || letter.isNumber { word += letter.lowercased() }
            wasLower = letter.isLowercase || letter.isNumber
        }
        if !word.isEmpty { words.append(word) }
        return words
    }
}
