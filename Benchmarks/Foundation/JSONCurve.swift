import BenchmarkSupport
import Foundation

/// JSONSerialization over the sizes that the own parser is measured at.
enum JSONCurve {
    static func run() {
        for size in JSONSample.sizes {
            let text = JSONSample.text(ofSize: size)
            Stopwatch.print("json-parse", peer: "JSONSerialization", size: text.count) {
                (try? JSONSerialization.jsonObject(with: text)) != nil
            }
            guard let tree = try? JSONSerialization.jsonObject(with: text) else { return }
            Stopwatch.print("json-write", peer: "JSONSerialization", size: text.count) {
                (try? JSONSerialization.data(withJSONObject: tree)) != nil
            }
        }
    }
}
