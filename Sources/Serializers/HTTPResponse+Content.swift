import FoundationEssentials
import HTTPMessage

extension HTTPResponse {
    /// Whether there is no content: no byte, or the one space that some frameworks send for "nothing".
    var hasNoContent: Bool {
        body.isEmpty || body.count == 1 && body.first == UInt8(ascii: " ")
    }

    /// Whether a response like this never has content: 204 and 205 (RFC 9110, sections 15.3.5 and 15.3.6), or one
    /// to HEAD (section 9.3.2).
    var isContentless: Bool {
        head.status == 204 || head.status == 205 || requestMethod == .head
    }
}
