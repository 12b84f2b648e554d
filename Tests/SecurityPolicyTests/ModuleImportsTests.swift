import Foundation
import Testing

@Suite struct ModuleImportsTests {
    @Test func `the trust module imports neither libcurl nor Foundation`() throws {
        let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let folder = package.appending(path: "Sources/SecurityPolicy")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter {
            $0.hasSuffix(".swift")
        }
        #expect(files.count > 10)
        for file in files {
            let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
            let imports = text.split(separator: "\n").filter { $0.contains("import ") && !$0.hasPrefix("/") }
            for line in imports {
                #expect(!line.contains("CCurl"), "\(file)")
                #expect(!line.hasSuffix("import Foundation"), "\(file)")
            }
        }
    }
}
