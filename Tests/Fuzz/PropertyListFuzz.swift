// module: Serializers
//
// Any body as a property list: reading it into a tree must end without a crash, whatever refers to what.

import FoundationEssentials
import HTTPMessage
import Serializers

/// One body under test; zero, as libFuzzer wants it.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzPropertyList(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    guard let url = URL(string: "http://h/") else { return 0 }
    var head = HTTPResponse.Head(status: 200, url: url)
    head.headers["Content-Type"] = "application/x-plist"
    let body = Data(UnsafeBufferPointer(start: start, count: count))
    _ = try? PropertyListResponseSerializer(JSONValue.self).serialize(HTTPResponse(head: head, body: body))
    return 0
}
