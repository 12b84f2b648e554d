// module: Serializers
//
// A body with any Content-Type: the first line is the header's value, the rest the body.

import FoundationEssentials
import HTTPMessage
import Serializers

/// One body under test; zero, as libFuzzer wants it.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzCharset(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = UnsafeBufferPointer(start: start, count: count)
    let lines = bytes.split(separator: 0x0A, maxSplits: 1, omittingEmptySubsequences: false)
    guard lines.count == 2, let url = URL(string: "http://h/") else { return 0 }
    var head = HTTPResponse.Head(status: 200, url: url)
    head.headers["Content-Type"] = String(decoding: lines[0], as: UTF8.self)
    let response = HTTPResponse(head: head, body: Data(lines[1]))
    for replaces in [false, true] {
        let strings = StringResponseSerializer(replacesInvalidBytes: replaces)
        _ = try? strings.serialize(response)
        var trees = JSONResponseSerializer(replacesInvalidBytes: replaces)
        trees.validation.acceptableContentTypes = nil
        _ = try? trees.serialize(response)
    }
    return 0
}
