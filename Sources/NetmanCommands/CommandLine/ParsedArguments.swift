/// A command line, taken apart.
struct ParsedArguments: Sendable, Equatable {
    var positional: [String] = []
    var values: [String: [String]] = [:]

    /// Whether an option is given.
    func has(_ option: String) -> Bool { values[option] != nil }

    /// The value of an option that may be given once; nil if it is not.
    func value(_ option: String) -> String? { values[option]?.last }

    /// The values of an option that may be given more than once.
    func all(_ option: String) -> [String] { values[option] ?? [] }

    /// A time limit; nil if it is not given.
    func seconds(_ option: String) throws(CommandFailure) -> Duration? {
        guard let text = value(option) else { return nil }
        guard let seconds = Double(text), seconds > 0, seconds <= 86_400 else {
            throw .usage("--\(option) takes seconds, more than 0 and at most 86400")
        }
        return .seconds(seconds)
    }
}
