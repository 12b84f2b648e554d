import FoundationEssentials
import HTTPMessage
import Serializers

/// What identifies the content of which a part is kept: enough to ask for the rest, and no secret.
struct PartialRecord: Sendable, Hashable {
    /// A digest of the URL, which may hold secrets.
    var urlDigest: String
    /// What `If-Range` is given: a strong entity tag, or a date.
    var validator: String
    /// The length of the whole content; nil when it is not known.
    var total: Int64?

    /// What a response with the whole content says; nil when nothing in it can identify the content.
    init?(_ head: HTTPResponse.Head, url: URL) {
        guard head.status == 200, let validator = PartialRecord.validator(head.headers),
            let digest = FileDigest.sha256(url.absoluteString)
        else { return nil }
        urlDigest = digest
        self.validator = validator
        total = head.headers["Content-Length"].flatMap { Int64($0) }
    }

    /// The strong validator of a response (RFC 9110, sections 8.8.1 and 8.8.2.2); nil when there is none.
    private static func validator(_ headers: HTTPHeaders) -> String? {
        if let tag = headers["ETag"] { return tag.hasPrefix("\"") ? tag : nil }
        guard let text = headers["Last-Modified"], let modified = HTTPDate.date(text),
            let sent = headers["Date"].flatMap({ HTTPDate.date($0) }),
            // A content that changed in the second of its answer may change again in it.
            sent.timeIntervalSince(modified) >= 1
        else { return nil }
        return text
    }

    /// Whether a 206 brings the rest of this content, from a place on.
    func isContinued(by head: HTTPResponse.Head, from offset: Int64) -> Bool {
        guard let range = head.headers["Content-Range"].flatMap(ContentRange.init), range.first == offset
        else {
            return false
        }
        // Without a coding it was asked for, and what is coded continues nothing that is not.
        guard !head.headers.contains("Content-Encoding") else { return false }
        // Whether it is all of the rest, nobody could tell.
        guard let whole = total ?? range.total else { return false }
        if let stated = range.total, whole != stated { return false }
        // The tag may be left out when the validator was a date.
        return !validator.hasPrefix("\"") || head.headers["ETag"].map { $0 == validator } ?? true
    }

    // MARK: On disk

    private static func place(_ path: String) -> URL { URL(filePath: path + ".json") }

    /// What was written down about the content of a file; nil when nothing usable is.
    init?(of path: String, url: URL) {
        guard let data = try? Data(contentsOf: PartialRecord.place(path)), data.count <= 64 << 10,
            let json = try? JSONValue(parsing: data), let digest = json["url"]?.string,
            digest == FileDigest.sha256(url.absoluteString), let validator = json["validator"]?.string
        else { return nil }
        urlDigest = digest
        self.validator = validator
        total = if case .int(let total)? = json["total"] { total } else { nil }
    }

    /// Writes it down beside the file.
    func write(of path: String) throws(FileProblem) {
        let json: JSONValue = [
            "url": .string(urlDigest), "validator": .string(validator),
            "total": total.map { .int($0) } ?? .null,
        ]
        do {
            try json.data().write(to: PartialRecord.place(path))
        } catch {
            throw FileProblem(PartialRecord.place(path).path, "it cannot be written")
        }
    }

    /// Removes what is written about a file.
    static func remove(of path: String) {
        try? FileManager.default.removeItem(at: place(path))
    }
}

/// A `Content-Range` in bytes (RFC 9110, section 14.4) of a range that is there.
struct ContentRange: Hashable {
    /// The first byte's place.
    let first: Int64
    /// The last byte's place.
    let last: Int64
    /// The length of the whole; nil when the server does not know it.
    let total: Int64?

    init?(_ text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: true)
        guard words.count == 2, words[0].asciiLowercased == "bytes" else { return nil }
        let halves = words[1].split(separator: "/", omittingEmptySubsequences: false)
        let ends = halves.first?.split(separator: "-", omittingEmptySubsequences: false) ?? []
        guard halves.count == 2, ends.count == 2, let first = ContentRange.number(ends[0]),
            let last = ContentRange.number(ends[1]), first <= last
        else { return nil }
        self.first = first
        self.last = last
        guard halves[1] != "*" else {
            total = nil
            return
        }
        guard let total = ContentRange.number(halves[1]), last < total else { return nil }
        self.total = total
    }

    private static func number(_ text: Substring) -> Int64? {
        text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int64(text) : nil
    }
}
