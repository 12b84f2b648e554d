import FoundationEssentials
import HTTPMessage

/// Reads the `Retry-After` field (RFC 9110, section 10.2.3).
enum RetryAfter {
    /// How long to wait; nil when the value is neither a number of seconds nor a date.
    ///
    /// A date that has passed is no wait at all.
    static func delay(_ value: String, now: Date) -> Duration? {
        let text = value.trimmingOptionalWhitespace
        if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            // Digits that overflow are longer than anything that is waited for.
            return Int64(text).map { min(.seconds($0), .longest) } ?? .longest
        }
        guard let date = HTTPDate.date(text) else { return nil }
        return min(max(.zero, .seconds(date.timeIntervalSince(now))), .longest)
    }
}

/// Reads the three spellings of a date in header fields (RFC 9110, section 5.6.7).
enum HTTPDate {
    private static let months = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]

    /// The date; nil when the text is none.
    static func date(_ text: some StringProtocol) -> Date? {
        let words = text.asciiLowercased.split { $0 == " " || $0 == "," || $0 == "-" }
        switch words.count {
        case 6 where words[5] == "gmt":
            // Sun, 06 Nov 1994 08:49:37 GMT, or Sunday, 06-Nov-94 08:49:37 GMT
            return date(day: words[1], month: words[2], year: words[3], time: words[4])
        case 5:
            // Sun Nov  6 08:49:37 1994
            return date(day: words[2], month: words[1], year: words[4], time: words[3])
        default:
            return nil
        }
    }

    private static func date(day: Substring, month: Substring, year: Substring, time: Substring) -> Date? {
        let clock = time.split(separator: ":", omittingEmptySubsequences: false).map { number($0) }
        guard let day = number(day), let monthIndex = months.firstIndex(of: String(month)),
            let written = number(year),
            clock.count == 3, let hour = clock[0], let minute = clock[1], let second = clock[2],
            (1...31).contains(day), (0...23).contains(hour), (0...59).contains(minute),
            (0...60).contains(second)
        else { return nil }
        // Two digits: the nearest century that RFC 850's dates can mean; no server means 1969 or earlier.
        let year = year.utf8.count == 2 ? (written < 70 ? 2000 + written : 1900 + written) : written
        let days = daysSince1970(year: year, month: monthIndex + 1, day: day)
        return Date(timeIntervalSince1970: Double(days * 86_400 + hour * 3600 + minute * 60 + second))
    }

    private static func number(_ text: Substring) -> Int? {
        guard (1...4).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int(text)
    }

    /// Days of the Gregorian calendar, counted in years that begin in March, so that the leap day comes last.
    private static func daysSince1970(year: Int, month: Int, day: Int) -> Int {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}
