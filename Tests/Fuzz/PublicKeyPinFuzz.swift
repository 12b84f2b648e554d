// module: SecurityPolicy
//
// Any text as a pin or as a host pattern: reading it must end without a crash, and what was read must be written and read
// again as the same.

import FoundationEssentials
import SecurityPolicy

/// One text under test; zero, as libFuzzer wants it.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzPublicKeyPin(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = UnsafeBufferPointer(start: start, count: count)
    let text = String(decoding: bytes, as: UTF8.self)
    if let pin = PublicKeyPin(text) { check(pin) }
    // A digest in every form that tools print, with one more character wherever the input says.
    if count >= 34 {
        let digest = Data(bytes[..<32])
        let base64 = digest.base64EncodedString()
        let hexadecimal = digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        for form in ["sha256/" + base64, "sha256//" + base64, base64, hexadecimal, hexadecimal.uppercased()] {
            guard let pin = PublicKeyPin(form) else { preconditionFailure("\(form) is not read") }
            precondition(pin.digest == digest, "\(form) is read as another digest")
            var damaged = Array(form.utf8)
            damaged[Int(bytes[32]) % damaged.count] = bytes[33]
            if let other = PublicKeyPin(String(decoding: damaged, as: UTF8.self)) { check(other) }
        }
    }
    if let pattern = HostPattern(text) {
        precondition(HostPattern(pattern.description) == pattern, "the pattern changes when it is written")
        _ = pattern.matches(text)
        precondition(!pattern.matches(""))
    }
    return 0
}

private func check(_ pin: PublicKeyPin) {
    precondition(pin.digest.count == 32)
    precondition(PublicKeyPin(pin.description) == pin, "the pin changes when it is written")
    guard let data = try? JSONEncoder().encode([pin]),
        let again = try? JSONDecoder().decode([PublicKeyPin].self, from: data)
    else { preconditionFailure("the pin has no JSON") }
    precondition(again == [pin])
}
