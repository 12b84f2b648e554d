// module: HTTPMessage
//
// Any Content-Type: reading it must end without a crash, and what it says must be fit for comparing.

import HTTPMessage

/// One header value under test; zero, as libFuzzer wants it.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzMediaType(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let text = String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    guard let type = MediaType(text) else { return 0 }
    precondition(!type.type.isEmpty && !type.subtype.isEmpty)
    precondition(type.essence == type.essence.lowercased(), "the essence is not in lower case")
    precondition(MediaType(type.essence)?.essence == type.essence, "the essence is no media type")
    for parameter in type.parameters {
        precondition(type[parameter: parameter.name.uppercased()] != nil, "a parameter is not found")
    }
    _ = type.charset
    return 0
}
