public import FoundationEssentials
import HTTPMessage

/// A form of `multipart/form-data` (RFC 7578): fields, files and streams, sent in the order of appending.
///
/// It is a value. Nothing is read before it is sent, then in pieces of at most 64 KiB, so that its size does
/// not matter; a form without streams can be sent as often as needed.
public struct MultipartForm: Sendable {
    /// The line that separates the parts, without its leading hyphens.
    ///
    /// By default `Boundary+` and 16 random hexadecimal digits. When a part in memory holds it, another one is
    /// chosen; in a file or a stream it is not looked for, as 64 random bits do not occur there by chance.
    public private(set) var boundary: String
    private(set) var parts: [MultipartPart] = []

    /// Makes an empty form with a random boundary.
    public init() {
        boundary = Self.randomBoundary()
    }

    /// Makes an empty form with a boundary of the caller's choice.
    ///
    /// - Parameter boundary: 1…70 characters of RFC 2046, section 5.1.1: ASCII letters, digits, and
    ///   `'()+_,-./:=?`; a space too, but not at the end.
    /// - Throws: ``SerializationError/invalidRequest(_:)`` for anything else.
    public init(boundary: String) throws(SerializationError) {
        guard Self.isBoundary(boundary) else {
            throw .invalidRequest("a boundary has 1…70 letters, digits or '()+_,-./:=? (RFC 2046)")
        }
        self.boundary = boundary
    }

    /// Whether no part has been appended; such a form leaves a request as it is.
    public var isEmpty: Bool { parts.isEmpty }

    /// Appends bytes that are in memory.
    ///
    /// - Parameters:
    ///   - data: The content.
    ///   - name: The name of the field. Quotation marks, CR and LF in names are sent as `%22`, `%0D`, `%0A`.
    ///   - fileName: The name of the file; nil sends a plain field.
    ///   - mimeType: The content type; nil sends none. CR, LF or NUL in it fail the request.
    public mutating func append(
        _ data: Data,
        name: String,
        fileName: String? = nil,
        mimeType: String? = nil
    ) {
        append(MultipartPart(name: name, fileName: fileName, mimeType: mimeType, content: .data(data)))
    }

    /// Appends a file, which is read while it is sent.
    ///
    /// - Parameters:
    ///   - path: The file's path. Its length is taken now: a file that has another one when it is sent fails
    ///     the request.
    ///   - name: The name of the field.
    ///   - fileName: The name that the server sees; nil takes the last component of the path.
    ///   - mimeType: The content type; nil takes the one of the file name's extension, or
    ///     `application/octet-stream`.
    /// - Throws: ``SerializationError/file(path:reason:)`` when the file is missing, unreadable or no regular
    ///   file.
    public mutating func appendFile(
        at path: String,
        name: String,
        fileName: String? = nil,
        mimeType: String? = nil
    ) throws(SerializationError) {
        let length = try FileReader(path: path).length
        // The path of a regular file does not end in a slash, so that there is a last component.
        let shownName =
            fileName ?? String(path[(path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex)...])
        append(
            MultipartPart(
                name: name,
                fileName: shownName,
                mimeType: mimeType ?? MIMETypes.type(ofFileNamed: shownName),
                content: .file(path: path, length: length)
            )
        )
    }

    /// Appends bytes that a sequence yields while they are sent.
    ///
    /// A form with such a part can be sent once: a redirect or a retry that needs it again is an error.
    /// - Parameters:
    ///   - sequence: The pieces, of any size. It is drawn only as fast as the peer takes the bytes.
    ///   - length: The exact number of bytes. A sequence that yields more or fewer fails the request.
    ///   - name: The name of the field.
    ///   - fileName: The name of the file.
    ///   - mimeType: The content type.
    public mutating func appendStream<S: AsyncSequence & Sendable>(
        _ sequence: S,
        length: Int64,
        name: String,
        fileName: String,
        mimeType: String
    ) where S.Element == Data {
        let content = MultipartPart.Content.stream(length: max(0, length)) {
            HTTPBody.Producer(drawing: sequence)
        }
        append(MultipartPart(name: name, fileName: fileName, mimeType: mimeType, content: content))
    }

    /// Puts parameters before all parts that are there, one field for each name and value.
    ///
    /// Names have the shape `outer[inner]`, as in a query, and are not escaped; null becomes an empty field.
    /// - Parameters:
    ///   - parameters: An object.
    ///   - arrayStyle: How the elements of arrays are named.
    ///   - boolStyle: How truth values are written.
    /// - Throws: ``SerializationError/invalidParameters(_:)`` for what has no form.
    public mutating func prepend(
        parameters: JSONValue,
        arrayStyle: FormArrayStyle = .brackets,
        boolStyle: FormBoolStyle = .numeric
    ) throws(SerializationError) {
        let pairs = try QueryEncoder(arrayStyle: arrayStyle, boolStyle: boolStyle).pairs(of: parameters)
        let later = parts
        parts = []
        for pair in pairs { append(Data((pair.value ?? "").utf8), name: pair.name) }
        parts += later
    }

    private mutating func append(_ part: MultipartPart) {
        parts.append(part)
        guard part.mayHold(delimiter: "--" + boundary) else { return }
        repeat {
            boundary = Self.randomBoundary()
        } while parts.contains { $0.mayHold(delimiter: "--" + boundary) }
    }

    private static func randomBoundary() -> String {
        let digits = String(UInt64.random(in: .min ... .max), radix: 16, uppercase: true)
        return "Boundary+" + String(repeating: "0", count: 16 - digits.count) + digits
    }

    private static func isBoundary(_ text: String) -> Bool {
        (1...70).contains(text.utf8.count) && text.last != " "
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
                default: " '()+_,-./:=?".utf8.contains(byte)
                }
            }
    }
}
