/// A type with a value for "there is no content", which a typed result of 204, 205 and HEAD needs.
public protocol EmptyRepresentable {
    /// The value that stands for a response without content.
    static var empty: Self { get }
}

/// The result of a call whose response has no content worth reading.
public struct EmptyResponse: EmptyRepresentable, Decodable, Sendable, Hashable {
    /// The only value.
    public static let empty = EmptyResponse()

    /// Makes the value.
    public init() {}

    /// Reads nothing: any content will do.
    public init(from decoder: any Decoder) {}
}

extension JSONValue: EmptyRepresentable {
    /// `null`.
    public static var empty: JSONValue { .null }
}

/// A type whose absent value is a value: `Optional`.
protocol AbsenceRepresentable {
    static var absent: Self { get }
}

extension Optional: AbsenceRepresentable {
    static var absent: Self { nil }
}
