import FoundationEssentials
import HTTPMessage

/// Why a URL cannot be requested, in a sentence that holds nothing of the URL but its scheme.
struct URLProblem: Error, Hashable {
    let reason: String

    init(_ reason: String) {
        self.reason = reason
    }
}

/// Reads the URLs that callers and servers write.
enum RequestURL {
    /// A base URL with the slash that makes relative paths stand below it: `http://h/v1` becomes `http://h/v1/`.
    ///
    /// The query and fragment of a base mean nothing and are dropped.
    static func base(_ url: URL) -> URLReference {
        var base = URLReference(url.absoluteString)
        base.query = nil
        base.fragment = nil
        if !base.path.isEmpty, !base.path.hasSuffix("/") { base.path += "/" }
        return base
    }

    /// Reads an absolute URL, or a reference relative to a base (RFC 3986, section 5.2).
    ///
    /// Control characters are refused here, on the text as it was written: a URL parser would percent-encode a line
    /// break away and hide the attempt to smuggle one. Spaces, letters beyond ASCII and the like in the path and query
    /// are percent-encoded as UTF-8.
    static func url(_ text: String, base: URLReference?) throws(URLProblem) -> URL {
        try checkedURL(text, base: base).url
    }

    /// Reads a URL as ``url(_:base:)`` does, and notes that it has been checked.
    static func checkedURL(
        _ text: String,
        base: URLReference?
    ) throws(URLProblem) -> RequestRules.CheckedURL {
        if let isSecure = isPlain(text), let url = URL(string: text, encodingInvalidCharacters: false) {
            return RequestRules.CheckedURL(url, isSecure: isSecure)
        }
        guard !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            throw URLProblem("It holds a control character, such as a line break.")
        }
        var reference = URLReference(text)
        if reference.scheme == nil {
            guard let base else {
                let what = text.isEmpty ? "It is empty" : "It is relative"
                throw URLProblem("\(what), and the manager has no baseURL.")
            }
            reference = reference.resolved(against: base)
        }
        try check(reference)
        reference.path = encoded(reference.path)
        reference.query = reference.query.map(encoded)
        reference.fragment = reference.fragment.map(encoded)
        guard let url = URL(string: reference.text, encodingInvalidCharacters: false) else {
            throw URLProblem("It is not written as a URL is (RFC 3986).")
        }
        return RequestRules.CheckedURL(url, reference)
    }

    /// Checks a URL that is a value already.
    ///
    /// It runs before every single transmission, so that an interceptor or a redirect cannot bring in what the caller
    /// may not write.
    @discardableResult
    static func check(_ url: URL) throws(URLProblem) -> URLReference {
        let reference = URLReference(url.absoluteString)
        try check(reference)
        return reference
    }

    private static func check(_ reference: URLReference) throws(URLProblem) {
        guard let scheme = reference.scheme?.asciiLowercased else { throw URLProblem("It has no scheme.") }
        guard scheme == "http" || scheme == "https" else {
            // localhost:8080/users: what is meant is a host, what is written is a scheme.
            if reference.authority == nil, let first = reference.path.utf8.first,
                (0x30...0x39).contains(first)
            {
                throw URLProblem("What looks like a host and a port has no scheme before it.")
            }
            throw URLProblem("Its scheme is \(scheme.prefix(20)); only http and https are supported.")
        }
        guard let authority = reference.authority else { throw URLProblem("It has no host.") }
        let (host, port) = reference.hostAndPort(of: authority)
        guard !host.isEmpty else { throw URLProblem("It has no host.") }
        // libcurl decodes %XX in hosts and Foundation does not: only what both read alike is let through. A
        // backslash is a separator to browsers and a letter to others.
        guard isHost(host), !authority.utf8.contains(0x5C) else {
            throw URLProblem(
                "Its host has characters that no host name has; write international names as xn--…."
            )
        }
        if let port, !port.isEmpty {
            guard port.utf8.allSatisfy({ (0x30...0x39).contains($0) }), UInt16(port) != nil else {
                throw URLProblem("Its port is no number from 0 to 65535.")
            }
        }
        guard authority.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw URLProblem("Its user info has characters that must be percent-encoded.")
        }
    }

    private static func isHost(_ host: Substring) -> Bool {
        if host.hasPrefix("[") {
            // An address with an optional zone (RFC 6874); what is inside is the resolver's to judge.
            return host.hasSuffix("]")
                && host.dropFirst().dropLast().utf8.allSatisfy {
                    isAlphanumeric($0) || ":.%-_~".utf8.contains($0)
                }
        }
        return host.utf8.allSatisfy {
            isAlphanumeric($0) || $0 == 0x2D || $0 == 0x2E || $0 == 0x5F || $0 == 0x7E
        }
    }

    /// Whether a URL is one of the many that need no second look: scheme in lower case, name or IPv4 address, perhaps a
    /// port, then nothing but bytes that stand for themselves.
    ///
    /// What is said of it is what taking it apart would find; whatever is doubtful is taken apart.
    /// - Returns: Whether it is https; nil when it must be looked at more closely.
    private static func isPlain(_ text: String) -> Bool? {
        text.utf8.withContiguousStorageIfAvailable { bytes in
            let isSecure = bytes.starts(with: "https://".utf8)
            guard isSecure || bytes.starts(with: "http://".utf8) else { return nil }
            var rest = bytes.dropFirst(isSecure ? 8 : 7)
            let host = rest.prefix { isAlphanumeric($0) || $0 == 0x2D || $0 == 0x2E }
            guard !host.isEmpty else { return nil }
            rest = rest[host.endIndex...]
            if rest.first == 0x3A {
                let port = rest.dropFirst().prefix { (0x30...0x39).contains($0) }
                guard (1...4).contains(port.count) || isPort(port) else { return nil }
                rest = rest[port.endIndex...]
            }
            guard rest.isEmpty || rest.first == 0x2F || rest.first == 0x3F, rest.allSatisfy(isPlain) else {
                return nil
            }
            return isSecure
        } ?? nil
    }

    /// Whether five digits are a port.
    private static func isPort(_ digits: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        digits.count == 5 && digits.reduce(0) { $0 * 10 + Int($1 - 0x30) } <= 65_535
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20)
    }

    /// Percent-encodes what may not stand in a path, query or fragment; escapes that are there already are kept.
    static func encoded(_ text: String) -> String {
        guard text.utf8.contains(where: { !isPlain($0) }) else { return text }
        let bytes = Array(text.utf8)
        guard bytes.indices.contains(where: { mustEncode(bytes, at: $0) }) else { return text }
        var result: [UInt8] = []
        for index in bytes.indices {
            guard mustEncode(bytes, at: index) else {
                result.append(bytes[index])
                continue
            }
            let digits = Array("0123456789ABCDEF".utf8)
            result += [0x25, digits[Int(bytes[index] >> 4)], digits[Int(bytes[index] & 15)]]
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Whether the byte stands for itself wherever it is: most texts have no others.
    private static func isPlain(_ byte: UInt8) -> Bool {
        // All of "!$&'()*+,-./0…9:;=?@A…Z_a…z~".
        switch byte {
        case 0x21, 0x24, 0x26...0x3B, 0x3D, 0x3F...0x5A, 0x5F, 0x61...0x7A, 0x7E: true
        default: false
        }
    }

    private static func mustEncode(_ bytes: [UInt8], at index: Int) -> Bool {
        let byte = bytes[index]
        if byte == 0x25 {
            let digits = bytes.dropFirst(index + 1).prefix(2)
            return digits.count < 2
                || !digits.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0 | 0x20) }
        }
        return byte <= 0x20 || byte >= 0x7F || "\"<>[\\]^`{|}#".utf8.contains(byte)
    }
}
