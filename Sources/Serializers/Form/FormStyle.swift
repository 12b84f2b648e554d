/// How the elements of an array are named in a form.
public enum FormArrayStyle: Sendable {
    /// `key[]=1&key[]=2`, as PHP and Rails read it.
    case brackets
    /// `key[0]=1&key[1]=2`.
    ///
    /// It is the one style in which a server can tell which members belong together in an array of objects.
    case indexed
    /// `key=1&key=2`.
    case repeatedKey
    /// A name of the caller's making, from the unescaped name of the array and the index of the element.
    ///
    /// It is called on the thread that serializes, at any time.
    case custom(@Sendable (_ key: String, _ index: Int) -> String)

    /// The unescaped name of an element.
    func name(of index: Int, in key: String) -> String {
        switch self {
        case .brackets: key + "[]"
        case .indexed: "\(key)[\(index)]"
        case .repeatedKey: key
        case .custom(let name): name(key, index)
        }
    }
}

/// How truth values are written in a form.
public enum FormBoolStyle: Sendable, Hashable {
    /// `1` and `0`.
    case numeric
    /// `true` and `false`.
    case literal

    func text(_ value: Bool) -> String {
        switch self {
        case .numeric: value ? "1" : "0"
        case .literal: value ? "true" : "false"
        }
    }
}

/// How a space is written in a form.
public enum FormSpaceStyle: Sendable, Hashable {
    /// `%20`, which is right in URLs and in bodies alike.
    case percentEscaped
    /// `+`, which is right in bodies of `application/x-www-form-urlencoded` only.
    case plus
}
