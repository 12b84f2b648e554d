// module: Serializers
// seeds: json-suite
//
// Any bytes: reading them must end without a crash, and what was read must survive writing and reading.

import FoundationEssentials
import Serializers

/// One text under test; zero, as libFuzzer wants it.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzJSONParser(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let data = Data(UnsafeBufferPointer(start: start, count: count))
    guard let value = try? JSONValue(parsing: data) else { return 0 }
    do {
        // Doubles without a fraction come back as whole numbers: the second text is the measure.
        let written = try value.data()
        let again = try JSONValue(parsing: written)
        let rewritten = try again.data()
        precondition(rewritten == written, "the text changes when it is read and written")
        let pretty = try JSONValue(parsing: value.data([.prettyPrinted, .escapingSlashes]))
        precondition(pretty == again, "the pretty text says something else")
        precondition(value.removingNulls.removingNulls == value.removingNulls)
    } catch {
        preconditionFailure("what was read cannot be written or read again: \(error)")
    }
    return 0
}
