// Foundation is what is compared with.
import Foundation
import SeededRandom
import Serializers
import Testing

@Suite("JSON compared with Foundation") struct JSONDifferentialTests {
    /// Makes documents: the same from the same seed.
    private struct Generator {
        var random: SplitMix64

        mutating func value(depth: Int = 0) -> JSONValue {
            switch Int.random(in: 0..<(depth < 5 ? 10 : 7), using: &random) {
            case 0: .null
            case 1: .bool(.random(using: &random))
            case 2: .int(.random(in: -1000...1000, using: &random))
            case 3: .int(Int64(bitPattern: random.next()))
            case 4: .double(Double.random(in: -1e9...1e9, using: &random))
            case 5: .double(finite())
            case 6: .string(text())
            case 7, 8:
                .array((0..<Int.random(in: 0...5, using: &random)).map { _ in value(depth: depth + 1) })
            default:
                .object(
                    Dictionary(
                        (0..<Int.random(in: 0...5, using: &random)).map { _ in
                            (text(), value(depth: depth + 1))
                        }
                    ) { $1 }
                )
            }
        }

        private mutating func finite() -> Double {
            let value = Double(bitPattern: random.next())
            return value.isFinite ? value : 0
        }

        private mutating func text() -> String {
            let characters = Array("abc \"\\/\n\t\u{0}\u{1f}é你😃\u{2028}{}[],:")
            return String(
                (0..<Int.random(in: 0...12, using: &random)).compactMap { _ in
                    characters.randomElement(using: &random)
                }
            )
        }

        /// The text with one to three bytes changed, removed or added.
        mutating func mutation(of text: Data) -> Data {
            var bytes = [UInt8](text)
            let likely = Array("{}[],:\"\\0123456789.-+eEtfnu \n".utf8) + [0, 0x7F, 0x80, 0xC3, 0xFF]
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let place = Int.random(in: 0...bytes.count, using: &random)
                let byte = likely.randomElement(using: &random) ?? 0
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes.insert(byte, at: place)
                case 1 where place < bytes.count: bytes[place] = byte
                case 2 where place < bytes.count: bytes.remove(at: place)
                default: break
                }
            }
            return Data(bytes)
        }
    }

    private func foundation(_ data: Data) -> JSONValue? {
        (try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)).flatMap(Self.tree)
    }

    private static func tree(_ object: Any) -> JSONValue? {
        switch object {
        case is NSNull: return .null
        case let text as String: return .string(text)
        case let elements as [Any]: return .array(elements.compactMap(tree))
        case let members as [String: Any]: return .object(members.compactMapValues(tree))
        case let number as NSNumber:
            if isBoolean(number) { return .bool(number.boolValue) }
            return .double(number.doubleValue)
        default: return nil
        }
    }

    /// NSNumber keeps truth values apart by its Objective-C type: `c`.
    private static func isBoolean(_ number: NSNumber) -> Bool {
        String(cString: number.objCType) == "c"
    }

    /// Whether both are the same, numbers but for the last digits.
    ///
    /// Foundation on Linux reads numbers through a decimal type and is often off by the last bits; that ours are the
    /// nearest doubles is shown by what is written and read again.
    private static func agree(_ left: JSONValue?, _ right: JSONValue?) -> Bool {
        switch (left, right) {
        case (.array(let left), .array(let right)):
            return left.count == right.count && zip(left, right).allSatisfy(agree)
        case (.object(let left), .object(let right)):
            return left.count == right.count && left.allSatisfy { agree($1, right[$0]) }
        default:
            guard let left = left?.double, let right = right?.double else { return left == right }
            return left == right || abs(left - right) <= abs(left) * 1e-14
        }
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `random documents are read as Foundation reads them, whoever wrote them`(seed: UInt64) throws {
        var generator = Generator(random: SplitMix64(seed: seed))
        for _ in 0..<50 {
            let value = generator.value()
            for options in [JSONValue.WritingOptions(), [.prettyPrinted, .escapingSlashes, .sortedKeys]] {
                let text = try value.data(options)
                let read = try JSONValue(parsing: text)
                // A double without a fraction comes back as a whole number.
                #expect(try read.data() == value.data())
                #expect(Self.agree(foundation(text), value), "\(value)")
            }
            let theirs = try JSONEncoder().encode(value)
            #expect(try JSONValue(parsing: theirs).data() == value.data())
        }
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `changed documents are refused or accepted as Foundation does`(seed: UInt64) throws {
        var generator = Generator(random: SplitMix64(seed: seed))
        for _ in 0..<200 {
            let text = generator.mutation(of: try generator.value().data())
            let ours = try? JSONValue(parsing: text)
            #expect(
                Self.agree(ours, foundation(text)),
                "\(String(decoding: text, as: UTF8.self).debugDescription)"
            )
        }
    }

    @Test func `the pretty text is Foundation's`() throws {
        var generator = Generator(random: SplitMix64(seed: 99))
        for _ in 0..<100 {
            let value = generator.value()
            guard value.array != nil || value.object != nil, !Self.holdsNumbers(value) else { continue }
            let text = try value.data([.prettyPrinted, .escapingSlashes, .sortedKeys])
            let object = try JSONSerialization.jsonObject(with: text)
            let theirs = try JSONSerialization.data(
                withJSONObject: object,
                options: [.prettyPrinted, .sortedKeys]
            )
            #expect(String(decoding: theirs, as: UTF8.self) == String(decoding: text, as: UTF8.self))
        }
    }

    private static func holdsNumbers(_ value: JSONValue) -> Bool {
        switch value {
        case .int, .uint, .double: true
        case .array(let elements): elements.contains(where: holdsNumbers)
        case .object(let members): members.values.contains(where: holdsNumbers)
        default: false
        }
    }
}
