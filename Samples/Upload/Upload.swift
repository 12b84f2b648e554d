// Shows: a form with a field and a large file, sent in pieces with its exact length, and a progress bar.
import Glibc
import NetManager
import TestServer

@main
struct Upload {
    static func main() async throws {
        let server = try TestServer { request in
            .json(#"{"bytes": \#(request.bodyLength), "type": "\#(request.headers["Content-Type"] ?? "")"}"#)
        }
        defer { server.stop() }
        let path = FileManager.default.temporaryDirectory.path + "/upload-\(getpid()).bin"
        let size = 24 << 20
        try Data(repeating: 7, count: size).write(to: URL(filePath: path))
        defer { unlink(path) }

        var form = MultipartForm()
        form.append(Data("Holiday".utf8), name: "title")
        try form.appendFile(at: path, name: "video", fileName: "beach.mp4", mimeType: "video/mp4")
        let length = form.contentLength

        var options = RequestOptions()
        options.progress = { progress in
            guard progress.direction == .upload, let fraction = progress.fraction else { return }
            let full = Int(fraction * 40)
            let bar = String(repeating: "#", count: full) + String(repeating: ".", count: 40 - full)
            // On a terminal the bar stays on its line; elsewhere only the end is written.
            if isatty(STDOUT_FILENO) == 1 || progress.completed == progress.total {
                print(
                    "\(isatty(STDOUT_FILENO) == 1 ? "\r" : "")[\(bar)] \(Int(fraction * 100)) %",
                    terminator: ""
                )
                fflush(nil)
            }
        }
        let json = try await HTTPSessionManager.shared.post(
            server.url("/videos"),
            options: options,
            form: form
        )
        print("\nthe server got \(json)")
        guard let bytes = json["bytes"]?.int, Int64(bytes) == length, bytes > size else { exit(1) }
        guard json["type"]?.string?.hasPrefix("multipart/form-data; boundary=") == true else { exit(1) }
    }
}
