// module: NetManager
//
// Any line of a cookie file: reading it must end without a crash, and what is written again must be the same cookie.

import FoundationEssentials

@testable import NetManager

/// One line under test; zero, as libFuzzer wants it.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzCookieLine(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let text = String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    guard let cookie = Cookie(netscapeLine: text) else { return 0 }
    precondition(!cookie.name.isEmpty && !cookie.domain.isEmpty)
    guard let line = cookie.netscapeLine(expiring: cookie.expires) else { return 0 }
    precondition(
        !line.utf8.contains(0x0A) && !line.utf8.contains(0x0D) && !line.utf8.contains(0),
        "it breaks its line"
    )
    guard let again = Cookie(netscapeLine: line) else { preconditionFailure("a written cookie is none") }
    precondition(again.name == cookie.name && again.value == cookie.value && again.path == cookie.path)
    precondition(again.isSecure == cookie.isSecure && again.isHTTPOnly == cookie.isHTTPOnly)
    precondition(again.includesSubdomains == cookie.includesSubdomains && again.domain == cookie.domain)
    return 0
}
