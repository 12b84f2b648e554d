import FoundationEssentials
import NetManager
import SecurityPolicy

/// Sends a request: one command for each method.
struct RequestCommand: NetmanCommand {
    static let methods: [HTTPMethod] = [.get, .head, .post, .put, .patch, .delete]

    let method: HTTPMethod
    let spec: CommandSpec

    init(method: HTTPMethod) {
        self.method = method
        spec = RequestCommand.spec(of: method)
    }

    func run(_ arguments: ParsedArguments, _ console: Console) async throws -> CommandStatus {
        guard let target = arguments.positional.first else {
            throw CommandFailure.usage("\(spec.name) takes a URL")
        }
        let plan = try RequestPlan(
            method: method,
            target: target,
            items: arguments.positional.dropFirst().map { try RequestItem($0) },
            style: try style(arguments),
            baseHeaders: ["User-Agent": "netman", "Accept": "*/*"]
        )
        let trust = try RequestTrust(arguments)
        if arguments.has("as-curl") {
            let isRevealing = arguments.has("reveal-secrets")
            console.print(trust.curlCommand(plan.request, revealing: isRevealing))
            for remark in trust.curlRemarks(plan.request, revealing: isRevealing) {
                console.note(Style.yellow(remark, on: console.errors))
            }
            return .success
        }
        let recorder = CallRecorder()
        var configuration = HTTPSessionManager.Configuration()
        configuration.sendsDefaultHeaders = false
        configuration.eventMonitors = [recorder]
        configuration.redirectPolicy = arguments.has("follow") ? .follow : .stop
        try trust.apply(to: &configuration)
        if let timeout = try arguments.seconds("timeout") { configuration.timeout = timeout }
        let call = NetmanCall(
            request: plan.request,
            configuration: configuration,
            trust: trust,
            console: console
        )
        let outcome: Result<CommandStatus, any Error>
        do {
            outcome = .success(
                arguments.has("download")
                    ? try await call.download(to: arguments.value("output"), replaces: arguments.has("force"))
                    : try await call.show(
                        arguments.has("headers") ? .head : arguments.has("body") ? .body : nil
                    )
            )
        } catch {
            outcome = .failure(error)
        }
        if arguments.has("explain"), hasBegun(outcome), let end = await recorder.end() {
            for line in Explanation(end: end).lines { console.note(Style.dim(line, on: console.errors)) }
        }
        switch outcome {
        case .success(let status): return status
        case .failure(let error): throw failure(of: error)
        }
    }

    /// Whether the manager has told of the call, or will.
    private func hasBegun(_ outcome: Result<CommandStatus, any Error>) -> Bool {
        guard case .failure(let error) = outcome else { return true }
        return (error as? RequestError).map { $0.attempt > 0 } ?? false
    }

    private func failure(of error: any Error) -> any Error {
        guard let error = error as? RequestError else { return error }
        switch error.kind {
        case .untrustedServer: return CommandFailure(message: "\(error)", status: .refused)
        case .unacceptableStatus(let status):
            return CommandFailure(message: "\(error)", status: NetmanCall.exitStatus(of: status))
        default: return CommandFailure(message: "\(error)")
        }
    }

    private func style(_ arguments: ParsedArguments) throws(CommandFailure) -> RequestPlan.BodyStyle {
        if arguments.has("form"), arguments.has("multipart") {
            throw .usage("--form and --multipart are two kinds of body")
        }
        if arguments.has("multipart") { return .multipart }
        return arguments.has("form") ? .form : .json
    }
}
