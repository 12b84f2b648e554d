import Foundation

/// Test data that is not part of this package.
public enum ConformanceData {
    /// The folder that the environment variable CONFORMANCE_DATA names.
    public static let folder: String? = {
        let path = ProcessInfo.processInfo.environment["CONFORMANCE_DATA"] ?? ""
        return path.isEmpty ? nil : path
    }()
}
