import FoundationEssentials
import NetManager

/// One request on its way: to the terminal or into a file.
struct NetmanCall {
    /// The part of a response that is asked for.
    enum Part: Sendable { case head, body }

    var request: HTTPRequest
    var configuration: HTTPSessionManager.Configuration
    var trust: RequestTrust
    var console: Console

    /// Sends the request and prints the response.
    ///
    /// - Parameter part: What is printed; nil for the head and body on a terminal, and else for the body.
    /// - Returns: What the status of the answer means.
    /// - Throws: What the manager throws.
    func show(_ part: Part?) async throws -> CommandStatus {
        let line = ProgressLine(console.errors)
        var options = trust.options
        if request.body != nil { options.progress = { if $0.direction == .upload { line.report($0) } } }
        let console = console
        let isTerminal = console.output.isTerminal
        let printer = ResponsePrinter(
            console: console,
            showsHead: part == .head || request.method == .head || part == nil && isTerminal,
            showsBody: part != .head
        )
        let manager = HTTPSessionManager(configuration)
        return try await manager.stream(request, options: options) { response in
            line.finish()
            printer.print(response.head)
            if printer.showsBody {
                if isTerminal {
                    let body = try await response.body.collect(upTo: ResponsePrinter.largestShown)
                    printer.print(body, response.head)
                } else {
                    for try await piece in response.body { console.output.write(piece) }
                }
            }
            return Self.exitStatus(of: response.head.status)
        }
    }

    /// Saves the body of a GET as a file.
    func download(to path: String?, replaces: Bool) async throws -> CommandStatus {
        let path = path ?? Self.fileName(of: request.url)
        let line = ProgressLine(console.errors)
        var settings = DownloadOptions()
        settings.resumes = true
        settings.existingFile = replaces ? .replace : .fail
        var options = trust.options
        options.progress = { line.report($0) }
        let manager = HTTPSessionManager(configuration)
        defer { line.finish() }
        let file = try await manager.download(
            request.url.absoluteString,
            headers: request.headers,
            options: options,
            to: path,
            settings: settings
        )
        line.report(TransferProgress(direction: .download, completed: file.size, total: file.size))
        line.finish()
        let resumed =
            file.resumedFrom > 0 ? ", \(ProgressBar.size(file.resumedFrom)) of them from before" : ""
        console.note("\(path): \(ProgressBar.size(file.size))\(resumed)")
        return .success
    }

    /// The exit status for an answer.
    static func exitStatus(of status: Int) -> CommandStatus {
        switch status {
        case ..<400: .success
        case ..<500: .clientError
        default: .serverError
        }
    }

    /// The last part of a URL's path, without anything that leads out of the folder; `index` if there is none.
    static func fileName(of url: URL) -> String {
        let last = url.path.split(separator: "/").last.map(String.init) ?? ""
        let name = String(
            String.UnicodeScalarView(last.unicodeScalars.filter { $0.value >= 0x20 && $0 != "\u{7F}" })
        )
        guard !name.isEmpty, !name.hasPrefix(".") else { return "index" }
        return name
    }
}
