import Foundation

/// A folder that goes away with its last reference.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "/security-policy-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Writes a file into the folder.
    @discardableResult
    func write(_ data: Data, to name: String) throws -> String {
        try data.write(to: URL(filePath: path + "/" + name))
        return path + "/" + name
    }

    @discardableResult
    func write(_ text: String, to name: String) throws -> String { try write(Data(text.utf8), to: name) }
}
