public import FoundationEssentials

extension URLEncodedFormEncoder {
    /// How names are changed before they are written.
    ///
    /// Names of dictionaries are changed too.
    public enum KeyStyle: Sendable {
        /// `oneTwo` stays `oneTwo`.
        case asWritten
        /// `oneTwo` becomes `one_two`.
        case snakeCase
        /// `oneTwo` becomes `one-two`.
        case kebabCase
        /// `oneTwo` becomes `OneTwo`.
        case capitalized
        /// `oneTwo` becomes `ONETWO`.
        case uppercased
        /// `oneTwo` becomes `onetwo`.
        case lowercased
        /// A name of the caller's making.
        case custom(@Sendable (String) -> String)
    }

    /// How the name of a member is added to the name of its object.
    public enum KeyPathStyle: Sendable {
        /// `outer[inner]`.
        case brackets
        /// `outer.inner`.
        case dots
        /// What stands behind the outer name, from the inner name.
        case custom(@Sendable (String) -> String)
    }

    /// How `Data` is written.
    public enum DataStyle: Sendable {
        /// As base64 with padding (RFC 4648, section 4).
        case base64
        /// As it encodes itself: an array of numbers.
        case deferred
        /// A text of the caller's making.
        case custom(@Sendable (Data) throws -> String)
    }

    /// How `Date` is written.
    public enum DateStyle: Sendable {
        /// As it encodes itself: seconds since 2001-01-01 00:00 UTC.
        case deferred
        /// Seconds since 1970-01-01 00:00 UTC, with their fraction.
        case secondsSince1970
        /// Milliseconds since 1970-01-01 00:00 UTC, with their fraction.
        case millisecondsSince1970
        /// `2001-01-01T00:02:03Z`, without a fraction (RFC 3339).
        case iso8601
        /// A text of the caller's making.
        case custom(@Sendable (Date) throws -> String)

        /// A text that a format style makes.
        public static func formatted<Style: FormatStyle & Sendable>(_ style: Style) -> DateStyle
        where Style.FormatInput == Date, Style.FormatOutput == String {
            .custom { style.format($0) }
        }
    }

    /// What is written for nil.
    public enum NilStyle: Sendable, Hashable {
        /// Nothing at all.
        case dropKey
        /// `name=`.
        case dropValue
        /// `name=null`.
        case null
    }
}

extension URLEncodedFormEncoder.KeyStyle {
    func name(_ key: String) -> String {
        switch self {
        case .asWritten: key
        case .snakeCase: Self.words(of: key, joinedBy: "_")
        case .kebabCase: Self.words(of: key, joinedBy: "-")
        case .capitalized: key.prefix(1).uppercased() + key.dropFirst()
        case .uppercased: key.uppercased()
        case .lowercased: key.lowercased()
        case .custom(let name): name(key)
        }
    }

    /// Splits before a capital that follows a small letter or a digit, and before the last capital of several
    /// that a small letter follows: `myURLPath2Go` has the words my, url, path2 and go.
    private static func words(of key: String, joinedBy separator: Character) -> String {
        let letters = Array(key)
        var text = ""
        for (index, letter) in letters.enumerated() {
            if letter.isUppercase, index > 0 {
                let before = letters[index - 1]
                let isBeforeSmall = index + 1 < letters.count && letters[index + 1].isLowercase
                if before.isLowercase || before.isNumber || before.isUppercase && isBeforeSmall {
                    text.append(separator)
                }
            }
            text += letter.lowercased()
        }
        return text
    }
}

extension URLEncodedFormEncoder.KeyPathStyle {
    func suffix(for key: String) -> String {
        switch self {
        case .brackets: "[\(key)]"
        case .dots: ".\(key)"
        case .custom(let suffix): suffix(key)
        }
    }
}
