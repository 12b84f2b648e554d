// Shows: a download that breaks off and is continued, with a progress bar; the file gets its name when it is
// complete and its SHA-256 is right.
import Glibc
import NetManager
import TestServer

@main
struct ResumableDownload {
    static let size = 4 << 20

    static func main() async throws {
        let content = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 >> 3) })
        let server = try TestServer { request in answer(request, content) }
        defer { server.stop() }
        let path = FileManager.default.temporaryDirectory.path + "/download-\(getpid()).bin"
        defer { unlink(path) }

        var settings = DownloadOptions()
        settings.resumes = true
        settings.sha256 = "11a227535cf045e314a50a68dc210fc65ee15ecc5c59a8619286370b2f1f4dbd"
        var options = RequestOptions()
        options.progress = { progress in
            guard let fraction = progress.fraction, isatty(STDOUT_FILENO) == 1 else { return }
            let full = Int(fraction * 40)
            let bar = String(repeating: "#", count: full) + String(repeating: ".", count: 40 - full)
            print("\r[\(bar)] \(Int(fraction * 100)) %", terminator: "")
            fflush(nil)
        }
        for attempt in 1...2 {
            do {
                let file = try await HTTPSessionManager.shared.download(
                    server.url("/image.iso"),
                    options: options,
                    to: path,
                    settings: settings
                )
                print("\n\(file.size) bytes, \(file.resumedFrom) of them from the first attempt")
                guard attempt == 2, file.resumedFrom > 0, file.size == Int64(size) else { exit(1) }
                guard try Data(contentsOf: URL(filePath: path)) == content else { exit(1) }
            } catch let error as RequestError {
                print("\nattempt \(attempt): \(error)")
                guard attempt == 1 else { throw error }
            }
        }
    }

    /// Breaks off in the middle, unless it is asked for the rest.
    static func answer(_ request: ReceivedRequest, _ content: Data) -> Answer {
        var answer = Answer.data(content).header("ETag", "\"v1\"")
        guard let range = request.headers["Range"], let first = Int(range.dropFirst(6).dropLast()) else {
            answer = answer.header("Content-Length", "\(size)").closing()
            answer.framing = .asWritten
            answer.body = content.prefix(size / 2)
            return answer
        }
        answer.status = 206
        answer.body = content.dropFirst(first)
        return answer.header("Content-Range", "bytes \(first)-\(size - 1)/\(size)")
    }
}
