import BenchmarkSupport
import Foundation

/// JSONSerialization over the sizes that the own parser is measured at.
enum JSONCurve {
    static func run() {
        for sample in JSONSample.allCases {
            for size in JSONSample.sizes {
                let text = sample.text(ofSize: size)
                Stopwatch.print("json-parse-\(sample)", peer: "JSONSerialization", size: text.count) {
                    (try? JSONSerialization.jsonObject(with: text)) != nil
                }
            }
        }
        for size in JSONSample.sizes {
            let text = JSONSample.records.text(ofSize: size)
            guard let tree = try? JSONSerialization.jsonObject(with: text) else { return }
            Stopwatch.print("json-write-records", peer: "JSONSerialization", size: text.count) {
                (try? JSONSerialization.data(withJSONObject: tree)) != nil
            }
        }
    }
}
