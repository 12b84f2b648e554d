/// The few ways in which text stands out on a terminal.
enum Style: String, CaseIterable {
    case bold = "1"
    case dim = "2"
    case red = "31"
    case green = "32"
    case yellow = "33"
    case cyan = "36"

    private static let end = "\u{1B}[0m"

    private var start: String { "\u{1B}[\(rawValue)m" }

    /// The text in this style, or as it is where there are no colors.
    ///
    /// What comes from elsewhere goes through ``Printable`` first.
    func callAsFunction(_ text: String, on stream: Console.Stream) -> String {
        let text = Printable.text(text)
        return stream.hasColors ? start + text + Self.end : text
    }

    /// How many scalars the program's own sequence has that the text begins with; nil for anything else.
    static func sequence(startingAt text: Substring.UnicodeScalarView) -> Int? {
        guard text.first == "\u{1B}" else { return nil }
        for own in allCases.map(\.start) + [end] where text.starts(with: own.unicodeScalars) {
            return own.unicodeScalars.count
        }
        return nil
    }
}
