public import Foundation
public import FoundationNetworking
public import HTTPMessage

extension HTTPURLResponse {
    /// Makes Foundation's response of a head.
    ///
    /// Foundation keeps one value for a name: repeated fields are joined with `, ` in their order, under the first
    /// one's spelling, `Set-Cookie` too.
    public convenience init?(_ head: HTTPResponse.Head) {
        self.init(
            url: head.url,
            statusCode: head.status,
            httpVersion: head.version.rawValue,
            headerFields: head.headers.joined
        )
    }
}

extension HTTPResponse {
    /// Makes a response of Foundation's.
    ///
    /// Lost before, in Foundation: the order of the fields (here they are sorted by name), which values were fields of
    /// their own, and the protocol's version, which is given as HTTP/1.1. The request's method is not known.
    /// - Parameters:
    ///   - response: The response. Nil comes back when it has no URL.
    ///   - body: Its content.
    public init?(_ response: HTTPURLResponse, body: Data = Data()) {
        guard let url = response.url else { return nil }
        var fields: [String: String] = [:]
        for (name, value) in response.allHeaderFields { fields["\(name)"] = "\(value)" }
        let head = Head(status: response.statusCode, headers: HTTPHeaders(sorting: fields), url: url)
        self.init(head: head, body: body)
    }
}

extension HTTPHeaders {
    /// One value for each name.
    ///
    /// `Cookie` has a separator of its own (RFC 6265, section 5.4).
    var joined: [String: String] {
        var joined: [String: String] = [:]
        for field in self where !joined.keys.contains(where: { $0.equalsIgnoringASCIICase(field.name) }) {
            let separator = field.name.equalsIgnoringASCIICase("Cookie") ? "; " : ", "
            joined[field.name] = self[values: field.name].joined(separator: separator)
        }
        return joined
    }

    /// The fields of a dictionary, sorted by name so that they come out the same each time.
    init(sorting fields: [String: String]) {
        self.init(fields: fields.sorted { $0.key < $1.key }.map { Field(name: $0.key, value: $0.value) })
    }
}
