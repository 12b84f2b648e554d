import FoundationEssentials
public import HTTPMessage

/// The header fields of requests whose caller set none of the same name.
public enum DefaultHeaders {
    /// `User-Agent` and, where the process has a locale, `Accept-Language`.
    ///
    /// They are made once, of the process's name and of its environment: `LC_ALL`, `LC_MESSAGES` or `LANG`,
    /// and `LANGUAGE`.
    public static let all: HTTPHeaders = {
        var headers: HTTPHeaders = [
            "User-Agent": userAgent(processName: ProcessInfo.processInfo.processName)
        ]
        headers["Accept-Language"] = acceptLanguage(
            of: languages(environment: ProcessInfo.processInfo.environment)
        )
        return headers
    }()

    /// The value of `Accept-Language` for languages in the order of preference: `en;q=1, fr;q=0.9`.
    ///
    /// Only the first six are named, which is as many as have a quality of 0.5 or more; nil for none.
    static func acceptLanguage(of languages: [String]) -> String? {
        guard !languages.isEmpty else { return nil }
        return languages.prefix(6).enumerated()
            .map { index, language in "\(language);q=\(index == 0 ? "1" : "0.\(10 - index)")" }
            .joined(separator: ", ")
    }

    /// The languages of the environment, as language tags (RFC 5646) in the order of preference.
    ///
    /// As in GNU gettext `LANGUAGE` counts only where there is a locale other than `C` and `POSIX`.
    static func languages(environment: [String: String]) -> [String] {
        let names = ["LC_ALL", "LC_MESSAGES", "LANG"]
        guard let locale = names.lazy.compactMap({ environment[$0] }).first(where: { !$0.isEmpty }),
            let localeTag = languageTag(ofLocale: locale)
        else { return [] }
        let preferred = (environment["LANGUAGE"] ?? "").split(separator: ":")
            .compactMap { languageTag(ofLocale: String($0)) }
        var tags: [String] = []
        for tag in preferred.isEmpty ? [localeTag] : preferred where !tags.contains(tag) { tags.append(tag) }
        return tags
    }

    /// `de-DE` for `de_DE.UTF-8@euro`; nil for `C`, `POSIX` and what is no language.
    private static func languageTag(ofLocale locale: String) -> String? {
        let name = locale.prefix { $0 != "." && $0 != "@" }
        guard name != "C", name != "POSIX" else { return nil }
        let subtags = name.split(omittingEmptySubsequences: false) { $0 == "_" || $0 == "-" }
        let isTag = subtags.allSatisfy { subtag in
            (1...8).contains(subtag.utf8.count)
                && subtag.utf8.allSatisfy { byte in
                    (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte.asciiLowercased)
                }
        }
        return isTag ? subtags.joined(separator: "-") : nil
    }

    /// `name NetManager (Linux)`, the name with `-` for what may not stand in a product (RFC 9110, 10.1.5).
    static func userAgent(processName: String) -> String {
        let bytes = processName.utf8.map { $0.isTokenByte ? $0 : UInt8(ascii: "-") }
        let name = String(decoding: bytes, as: UTF8.self)
        return name.isEmpty ? "NetManager (Linux)" : "\(name) NetManager (Linux)"
    }
}
