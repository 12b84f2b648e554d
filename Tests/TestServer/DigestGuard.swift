import COpenSSL
import FoundationEssentials
import Locks

/// Asks for Digest (RFC 7616) with SHA-256 and lets pass who proves a password, as strictly as a server may.
///
/// Each challenge has a nonce of its own, and each count of a nonce is taken once, so that nothing that was shown to one
/// guard, or to this one before, passes.
package final class DigestGuard: Sendable {
    /// The realm, which all its challenges name.
    package let realm: String
    private let user: String
    private let password: String
    /// The highest count that was seen for each nonce that was given out.
    private let counts = Guarded<[String: Int]>([:])

    /// Makes a guard for one user.
    package init(realm: String, user: String, password: String) {
        self.realm = realm
        self.user = user
        self.password = password
    }

    /// A challenge with a new nonce, as it stands in the field.
    package func challenge() -> String {
        let nonce = counts.withLock { counts in
            let nonce = "\(realm)-nonce-\(counts.count)"
            counts[nonce] = 0
            return nonce
        }
        let values = "realm=\"\(realm)\", nonce=\"\(nonce)\", opaque=\"\(realm)-opaque\", qop=\"auth\""
        return "Digest \(values), algorithm=SHA-256"
    }

    /// Whether the field proves the password for this request, whose target may be written in any of these ways.
    package func accepts(_ field: String?, method: String, targets: [String]) -> Bool {
        guard let field, field.hasPrefix("Digest ") else { return false }
        let values = Self.values(of: field.dropFirst(7))
        guard values["username"] == user, values["realm"] == realm, values["opaque"] == "\(realm)-opaque",
            let target = values["uri"], targets.contains(target), values["qop"] == "auth",
            let nonce = values["nonce"],
            let text = values["nc"], let count = Int(text, radix: 16), let own = values["cnonce"]
        else { return false }
        let secret = Self.hash("\(user):\(realm):\(password)")
        let request = Self.hash("\(method):\(target)")
        guard values["response"] == Self.hash("\(secret):\(nonce):\(text):\(own):auth:\(request)") else {
            return false
        }
        return counts.withLock { counts in
            guard let last = counts[nonce], count == last + 1 else { return false }
            counts[nonce] = count
            return true
        }
    }

    /// Names and values; what is quoted has no comma in these tests.
    private static func values(of text: Substring) -> [String: String] {
        var values: [String: String] = [:]
        for pair in text.split(separator: ",") {
            let sides = pair.split(separator: "=", maxSplits: 1)
            guard sides.count == 2 else { continue }
            let value = sides[1].hasPrefix("\"") ? sides[1].dropFirst().dropLast() : sides[1]
            values[String(sides[0].drop { $0 == " " })] = String(value)
        }
        return values
    }

    private static func hash(_ text: String) -> String {
        var hash = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
        let bytes = Array(text.utf8)
        SHA256(bytes, bytes.count, &hash)
        return hash.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
