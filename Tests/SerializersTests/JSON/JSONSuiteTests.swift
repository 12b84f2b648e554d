import FoundationEssentials
import Serializers
import Testing

private let folder = ProcessInfo.processInfo.environment["CONFORMANCE_DATA"].map { "\($0)/json-suite" }

/// The files of a JSON test suite in `$CONFORMANCE_DATA/json-suite`: `y_` must be read, `n_` must not, `i_` either way.
@Suite("The JSON test suite", .enabled(if: folder != nil)) struct JSONSuiteTests {
    /// The values of the files with a prefix, nil for those that are refused, by name.
    private func results(prefix: String) throws -> [String: JSONValue?] {
        let folder = try #require(folder)
        var results: [String: JSONValue?] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) where name.hasPrefix(prefix) {
            let data = try Data(contentsOf: URL(filePath: "\(folder)/\(name)"))
            results[name] = .some(try? JSONValue(parsing: data))
        }
        return results
    }

    @Test func `every text that must be read is read, written and read again`() throws {
        let results = try results(prefix: "y_")
        #expect(results.count == 95)
        for (name, value) in results {
            let value = try #require(value, "\(name)")
            // A double without a fraction comes back as a whole number: the second text is the measure.
            let written = try value.data()
            #expect(try JSONValue(parsing: written).data() == written, "\(name)")
        }
    }

    @Test func `every text that must not be read is refused`() throws {
        let results = try results(prefix: "n_")
        #expect(results.count == 188)
        #expect(results.filter { $0.value != nil }.keys.sorted() == [])
    }

    @Test func `texts that may go either way do not crash`() throws {
        let results = try results(prefix: "i_")
        #expect(results.count == 35)
        // What the documentation of JSONValue promises about them.
        #expect(results["i_structure_UTF-8_BOM_empty_object.json"] == .some([:]))
        #expect(results["i_number_huge_exp.json"] == .some(.none))
        #expect(results["i_number_real_underflow.json"] == .some([0.0]))
        #expect(results["i_string_incomplete_surrogate_pair.json"] == .some(.none))
        #expect(results["i_structure_500_nested_arrays.json"] != .some(.none))
    }
}
