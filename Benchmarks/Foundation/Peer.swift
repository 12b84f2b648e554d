import BenchmarkSupport
import Foundation
import FoundationNetworking

/// The same workloads with the toolchain's URLSession, its defaults but for the number of connections and the cache;
/// the style `json` measures JSONSerialization instead.
@main
struct Peer {
    static func main() async {
        if CommandLine.arguments.dropFirst().first == "json" {
            JSONCurve.run()
            return
        }
        let arguments = Arguments()
        let configuration = URLSessionConfiguration.default
        configuration.httpMaximumConnectionsPerHost = arguments.inFlight
        configuration.urlCache = nil
        let session = URLSession(configuration: configuration)
        var errors = 0
        if arguments.warmUp > 0 { errors += await run(arguments.warmUp, arguments, session) }
        let measurement = Measurement()
        errors += await run(arguments.count, arguments, session)
        measurement.report("urlsession", requests: arguments.count, errors: errors)
    }

    private static func run(_ count: Int, _ arguments: Arguments, _ session: URLSession) async -> Int {
        guard let url = URL(string: arguments.url) else { return count }
        let workload = arguments.workload
        let file = FileManager.default.temporaryDirectory.appending(path: "upload-\(getpid())")
        if workload == .upload {
            _ = FileManager.default.createFile(atPath: file.path, contents: nil)
            _ = truncate(file.path, Arguments.uploadSize)
        }
        defer { if workload == .upload { try? FileManager.default.removeItem(at: file) } }
        return await runLanes(count, inFlight: arguments.inFlight) {
            do {
                switch workload {
                case .get:
                    return try await !session.data(from: url).0.isEmpty
                case .download:
                    let (path, _) = try await session.download(from: url)
                    try? FileManager.default.removeItem(at: path)
                    return true
                case .upload:
                    var request = URLRequest(url: url)
                    request.httpMethod = "POST"
                    return try await !session.upload(for: request, fromFile: file).0.isEmpty
                }
            } catch {
                return false
            }
        }
    }
}
