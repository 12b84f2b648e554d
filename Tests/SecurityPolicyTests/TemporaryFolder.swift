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

/// Runs a program to its end; what it printed is the error if it fails.
@discardableResult
func runTool(_ path: String, _ arguments: [String]) throws -> String {
    struct Failed: Error { let output: String }
    let process = Process()
    process.executableURL = URL(filePath: path)
    process.arguments = arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    let text = String(decoding: output, as: UTF8.self)
    guard process.terminationStatus == 0 else { throw Failed(output: text) }
    return text
}
