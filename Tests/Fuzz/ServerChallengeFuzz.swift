// module: HTTPMessage
//
// Any WWW-Authenticate: reading it must end without a crash, in bounds, with names that can be compared.

@testable import HTTPMessage

/// One header value under test; zero, as libFuzzer wants it.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzServerChallenge(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let text = String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    let list = ServerChallenge.list([text, text])
    precondition(list.count <= 32, "there are too many challenges")
    for challenge in list {
        precondition(challenge.scheme.isHTTPToken && challenge.scheme == challenge.scheme.asciiLowercased)
        for name in challenge.parameters.keys {
            precondition(name.isHTTPToken && name == name.asciiLowercased, "a name is none")
        }
    }
    return 0
}
