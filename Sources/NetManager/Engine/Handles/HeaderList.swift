import HTTPMessage

/// The header fields of a request as entries of libcurl's list (CURLOPT_HTTPHEADER).
///
/// libcurl looks through the whole list for each field that it may add by itself, six times for a GET (7.88), and treats
/// each entry by itself once more when it writes the request: a thousand instructions an entry. So what it need not know
/// of stands behind one entry that it must know of, as further lines of the same text. What comes here has been checked:
/// no name and no value has a line break.
enum HeaderList {
    /// Fields that libcurl adds, leaves out or changes by itself, in any version since 7.81 (lib/http.c).
    private static let known: Set<String> = [
        "accept", "accept-encoding", "alt-used", "authorization", "connection", "content-length",
        "content-range", "content-type", "cookie", "expect", "host", "http2-settings", "if-modified-since",
        "if-unmodified-since", "last-modified", "proxy-authorization", "proxy-connection", "range",
        "referer", "te", "trailer", "transfer-encoding", "upgrade",
    ]

    /// The entries: fields that libcurl knows one by one, then all others together.
    /// - Parameters:
    ///   - headers: What the request says.
    ///   - hasBody: Whether there is content.
    ///   - codings: The value of `Accept-Encoding`, where the request has none of its own; nil for no such field.
    ///   - host: The value of `Host`, where it is written here; nil to leave it to libcurl.
    /// - Returns: Texts without the line break at their end.
    static func entries(
        of headers: HTTPHeaders,
        hasBody: Bool,
        codings: String?,
        host: String? = nil
    ) -> [String] {
        var entries: [String] = []
        var rest = codings.map { "Accept-Encoding: \($0)" } ?? ""
        let writesHost = host != nil && !headers.contains("Host")
        if writesHost, let host {
            // It comes first (RFC 9110, section 7.2), so the two that libcurl knows and would write before it follow it here.
            let accept = headers.contains("Accept") ? "" : "\r\nAccept: */*"
            rest = "Host: \(host)\(accept)" + (rest.isEmpty ? "" : "\r\n\(rest)")
            // With nothing behind the colon libcurl leaves its own away.
            entries.append("Host:")
            if !accept.isEmpty { entries.append("Accept:") }
            if codings != nil { entries.append("Accept-Encoding:") }
        }
        var known: [String] = []
        for field in headers {
            // With a colon at its end an entry would be taken for an order to leave the field out; with a semicolon
            // libcurl writes it without a value.
            let stands = field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)"
            if Self.known.contains(field.name.asciiLowercased) {
                known.append(stands)
            } else if !rest.isEmpty {
                rest += field.value.isEmpty ? "\r\n\(field.name):" : "\r\n\(stands)"
            } else if field.value.isEmpty {
                known.append(stands)
            } else {
                rest = stands
            }
        }
        if hasBody {
            // libcurl adds these by itself: a type that nobody gave, and a wait of a second before large bodies.
            for name in ["Content-Type", "Expect"] where !headers.contains(name) {
                known.append("\(name):")
            }
        }
        let together = rest.isEmpty ? [] : [rest]
        return entries + (writesHost ? together + known : known + together)
    }
}
