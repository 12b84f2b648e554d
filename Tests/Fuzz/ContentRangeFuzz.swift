// module: NetManager
//
// Any Content-Range, and the length of the file that it is to continue: reading it must end without a crash, and what is
// taken must make sense.

import FoundationEssentials
import HTTPMessage

@testable import NetManager

/// One header value under test; zero, as libFuzzer wants it.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzContentRange(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let text = String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    guard let url = URL(string: "http://localhost/") else { return 0 }
    if let range = ContentRange(text) {
        precondition(range.first >= 0 && range.first <= range.last, "a range runs backwards")
        if let total = range.total { precondition(range.last < total, "a range passes the end") }
        let written = "bytes \(range.first)-\(range.last)/\(range.total.map(String.init) ?? "*")"
        precondition(ContentRange(written) == range, "a range does not survive being written")
    }
    // The same text as all that a server may say about a content.
    let whole = HTTPResponse.Head(
        status: 200,
        headers: ["ETag": text, "Last-Modified": text, "Date": text, "Content-Length": text],
        url: url
    )
    let part = HTTPResponse.Head(status: 206, headers: ["Content-Range": text, "ETag": text], url: url)
    if let record = PartialRecord(whole, url: url), record.isContinued(by: part, from: 4) {
        precondition(ContentRange(text)?.first == 4, "a part is taken for the rest that is none")
    }
    return 0
}
