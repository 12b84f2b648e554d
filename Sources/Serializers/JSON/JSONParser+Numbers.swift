extension JSONParser {
    /// What the digits of a number say, as far as 64 bits hold it.
    private struct Digits {
        /// All digits as one whole number; meaningless after an overflow.
        var significand: UInt64 = 0
        var overflows = false

        mutating func append(_ byte: UInt8) {
            let (product, tooLarge) = significand.multipliedReportingOverflow(by: 10)
            let (sum, stillTooLarge) = product.addingReportingOverflow(UInt64(byte - UInt8(ascii: "0")))
            significand = sum
            overflows = overflows || tooLarge || stillTooLarge
        }
    }

    /// Reads a number (RFC 8259, section 6).
    ///
    /// One without fraction and exponent stays exact as far as 64 bits hold it. Every other is the nearest
    /// double; one beyond the range of doubles is an error, one below it is zero.
    mutating func readNumber() throws(SerializationError) -> JSONValue {
        let start = position
        if let value = readShortNumber() { return value }
        position = start
        let isNegative = take(UInt8(ascii: "-"))
        var digits = Digits()
        if !take(UInt8(ascii: "0")) { _ = try readDigits(into: &digits) }
        guard position < bytes.count, [0x2E, 0x45, 0x65].contains(bytes[position]) else {
            return try wholeNumber(digits, isNegative: isNegative, from: start)
        }
        var exponent = 0
        if take(UInt8(ascii: ".")) { exponent = -(try readDigits(into: &digits)) }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) { exponent += try readExponent() }
        if !digits.overflows,
            let value = Self.exactDouble(digits.significand, exponent: exponent)
        {
            return .double(isNegative ? -value : value)
        }
        return .double(try nearestDouble(from: start))
    }

    /// Reads a number of at most 18 digits without an exponent, as nearly all are: nothing can overflow.
    ///
    /// Nil when it is none; the position is of no meaning then.
    @inline(__always)
    private mutating func readShortNumber() -> JSONValue? {
        let isNegative = take(UInt8(ascii: "-"))
        let start = position
        var significand: UInt64 = 0
        skipDigits(into: &significand)
        let whole = position - start
        guard 1...18 ~= whole, whole == 1 || bytes[start] != UInt8(ascii: "0") else { return nil }
        guard position < bytes.count else { return nil }
        switch bytes[position] {
        case UInt8(ascii: "."):
            position += 1
            let fractionStart = position
            skipDigits(into: &significand)
            let fraction = position - fractionStart
            guard fraction > 0, whole + fraction <= 18, position < bytes.count,
                bytes[position] | 0x20 != UInt8(ascii: "e"),
                let value = Self.exactDouble(significand, exponent: -fraction)
            else { return nil }
            return .double(isNegative ? -value : value)
        case UInt8(ascii: "e"), UInt8(ascii: "E"):
            return nil
        default:
            let value = Int64(truncatingIfNeeded: significand)
            return .int(isNegative ? -value : value)
        }
    }

    /// Moves over digits; the number they make is right up to 19 of them.
    @inline(__always)
    private mutating func skipDigits(into number: inout UInt64) {
        while position < bytes.count, case let digit = bytes[position] &- UInt8(ascii: "0"), digit < 10 {
            number = number &* 10 &+ UInt64(digit)
            position += 1
        }
    }

    /// Reads one digit or more and returns their count.
    private mutating func readDigits(into digits: inout Digits) throws(SerializationError) -> Int {
        let start = position
        while position < bytes.count, case let byte = bytes[position],
            UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
        {
            digits.append(byte)
            position += 1
        }
        guard position > start else { throw malformed("a digit was expected") }
        return position - start
    }

    private mutating func readExponent() throws(SerializationError) -> Int {
        let isNegative = take(UInt8(ascii: "-"))
        if !isNegative { _ = take(UInt8(ascii: "+")) }
        var digits = Digits()
        _ = try readDigits(into: &digits)
        // Far outside what exactDouble accepts, and far from overflowing when digits are subtracted.
        let ceiling: UInt64 = 1_000_000
        let size = digits.overflows ? ceiling : min(digits.significand, ceiling)
        return isNegative ? -Int(size) : Int(size)
    }

    private func wholeNumber(
        _ digits: Digits,
        isNegative: Bool,
        from start: Int
    ) throws(SerializationError) -> JSONValue {
        let magnitude = digits.significand
        if !digits.overflows {
            if magnitude <= UInt64(Int64.max) {
                return .int(isNegative ? -Int64(magnitude) : Int64(magnitude))
            }
            if !isNegative { return .uint(magnitude) }
            if magnitude == Int64.min.magnitude { return .int(.min) }
        }
        return .double(try nearestDouble(from: start))
    }

    /// The value when significand and power of ten are exact doubles: up to 2^53 and 10^22.
    ///
    /// One operation on exact operands rounds correctly (Clinger, "How to read floating point numbers
    /// accurately", 1990).
    private static func exactDouble(_ significand: UInt64, exponent: Int) -> Double? {
        guard significand <= 1 << 53, -22...22 ~= exponent else { return nil }
        let value = Double(significand)
        return exponent < 0 ? value / powersOfTen[-exponent] : value * powersOfTen[exponent]
    }

    private static let powersOfTen: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17,
        1e18,
        1e19, 1e20, 1e21, 1e22,
    ]

    private func nearestDouble(from start: Int) throws(SerializationError) -> Double {
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        guard let value = Double(text), value.isFinite else {
            throw .malformedJSON(reason: "a number is too large for a double", offset: start)
        }
        return value
    }
}
