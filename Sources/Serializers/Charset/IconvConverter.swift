import CIconv
import FoundationEssentials

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// One conversion of the C library's to UTF-8.
///
/// The converters are loaded by the C library from its own folder when they are first asked for.
struct IconvConverter: ~Copyable {
    private let descriptor: iconv_t
    private let unitSize: Int
    private let label: String

    /// Whether the C library can convert from this character set.
    static func knows(_ name: String) -> Bool {
        guard let descriptor = open(name) else { return false }
        iconv_close(descriptor)
        return true
    }

    private static func open(_ name: String) -> iconv_t? {
        guard isPlain(name), let descriptor = iconv_open("UTF-8", name) else { return nil }
        // Minus one as a pointer: there is no such conversion (iconv_open(3)).
        return descriptor == iconv_t(bitPattern: -1) ? nil : descriptor
    }

    /// Opens a conversion.
    /// - Parameters:
    ///   - name: The converter.
    ///   - unitSize: How many bytes are skipped for one U+FFFD.
    ///   - label: The name for errors.
    /// - Throws: ``SerializationError/unknownCharset(_:)``.
    init(from name: String, unitSize: Int, label: String) throws(SerializationError) {
        guard let opened = Self.open(name) else { throw .unknownCharset(label) }
        descriptor = opened
        self.unitSize = unitSize
        self.label = label
    }

    deinit { iconv_close(descriptor) }

    /// Whether the name is a mere name.
    ///
    /// The C library reads more into others: a slash begins options such as `//IGNORE`, and an empty name is
    /// the process's locale.
    private static func isPlain(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.count <= 40
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"),
                    UInt8(ascii: "."), UInt8(ascii: ":"), UInt8(ascii: "+"):
                    true
                default: false
                }
            }
    }

    /// Converts the bytes.
    /// - Parameters:
    ///   - data: The text in its own character set.
    ///   - offset: How many bytes stand before it; counted in errors.
    ///   - replacingInvalidBytes: Whether a unit that is no text becomes U+FFFD instead of an error.
    /// - Returns: The text in UTF-8.
    /// - Throws: ``SerializationError/unreadableText(charset:offset:)``.
    consuming func utf8(
        of data: Data,
        offset: Int,
        replacingInvalidBytes: Bool
    ) throws(SerializationError) -> [UInt8] {
        // A copy: iconv takes a pointer to bytes that it may change, although it does not.
        var input = [UInt8](data)
        var output: [UInt8] = []
        output.reserveCapacity(input.count + input.count / 2)
        var position = 0
        while position < input.count {
            let problem = input.withUnsafeMutableBytes { bytes in
                let rest = UnsafeMutableRawBufferPointer(rebasing: bytes[position...])
                let (consumed, problem) = convert(rest, into: &output)
                position += consumed
                return problem
            }
            guard problem != 0, problem != E2BIG else { continue }
            guard replacingInvalidBytes else {
                throw .unreadableText(charset: label, offset: offset + position)
            }
            output.append(contentsOf: UTF8.encodedReplacementCharacter)
            position = problem == EINVAL ? input.count : min(position + unitSize, input.count)
        }
        // What a set with shift states still holds back.
        _ = convert(nil, into: &output)
        return output
    }

    /// Converts as much as goes, into a piece that is appended to the output; nil ends the text.
    /// - Returns: How many bytes were taken, and zero or the error number: E2BIG when the piece was full, EILSEQ at
    ///   bytes that are no text, EINVAL at a character that is cut off (iconv(3)).
    private func convert(
        _ input: UnsafeMutableRawBufferPointer?,
        into output: inout [UInt8]
    ) -> (consumed: Int, problem: Int32) {
        var source = input?.baseAddress?.assumingMemoryBound(to: CChar.self)
        var left = input?.count ?? 0
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: Self.pieceSize) { piece in
            var target = piece.baseAddress
            var room = piece.count
            let result = iconv(descriptor, &source, &left, &target, &room)
            let problem = errno
            output.append(contentsOf: UnsafeRawBufferPointer(piece).prefix(piece.count - room))
            // The size -1 tells an error; all others count characters that were approximated.
            return ((input?.count ?? 0) - left, result == -1 ? problem : 0)
        }
    }

    /// Bytes that are converted at a time: 16 KiB, small enough for the stack.
    private static let pieceSize = 16 * 1024
}
