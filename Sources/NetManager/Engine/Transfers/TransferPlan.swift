import FoundationEssentials
import HTTPMessage
import SecurityPolicy
import Synchronization

/// A request as the engine's thread needs it: checked, and with the policy that it stands under.
///
/// A class, as it holds some dozen references and passes through half a dozen hands: one count is changed, not all.
final class TransferPlan: Sendable {
    private static let numbers = Atomic<UInt64>(0)

    let id = TransferID(number: numbers.wrappingAdd(1, ordering: .relaxed).newValue)
    private let cancelled = Atomic<Bool>(false)
    let request: HTTPRequest
    var method: HTTPMethod { request.method }
    /// The absolute URL.
    ///
    /// Which host it names is for libcurl's own parser to say, so that the host that is connected to and the
    /// host whose name is checked cannot differ.
    var url: URL { request.url }
    var headers: HTTPHeaders { request.headers }
    let body: UploadPlan
    var policy: SecurityPolicy { context.policy }
    /// What the client shows when a server asks for a certificate; nil for nothing.
    var clientIdentity: ClientIdentity? { context.clientIdentity }
    /// Equal only for equal policies together with equal client identities and the same hook; keeps connections and TLS
    /// sessions of different ones apart.
    var policyID: String { context.settings.connectionID }
    /// What is asked about each new chain of a server; nil for nothing.
    var serverTrustHook: ServerTrustHook? { context.serverTrustHook }
    /// Told of servers that were refused, or would have been; called on the engine's thread, so it only hands on.
    var trustObserver: (@Sendable (TrustReport) -> Void)? { context.trustObserver }
    let context: TransportContext
    /// Told of progress; nil when nobody is.
    let progress: ProgressReporter?

    /// Makes a plan that is still to be checked.
    /// - Parameters:
    ///   - request: What is to be sent.
    ///   - body: Its content.
    ///   - context: How it is to be carried.
    ///   - reportsProgress: Whether the context's handler is told of progress.
    init(
        unchecked request: consuming HTTPRequest,
        body: consuming UploadPlan,
        context: consuming TransportContext,
        reportsProgress: Bool
    ) {
        self.request = consume request
        self.body = consume body
        if reportsProgress, let handler = context.progress {
            progress = ProgressReporter(handler: handler, queue: context.progressQueue)
        } else {
            progress = nil
        }
        self.context = consume context
    }

    /// Makes a plan and checks it.
    /// - Parameters:
    ///   - request: What is to be sent.
    ///   - body: Its content.
    ///   - context: How it is to be carried.
    ///   - isChecked: Whether ``RequestRules`` have passed the request.
    /// - Throws: ``RequestError`` when it may not be sent.
    convenience init(
        _ request: consuming HTTPRequest,
        body: consuming UploadPlan,
        context: consuming TransportContext,
        isChecked: Bool = false
    ) throws {
        self.init(
            unchecked: consume request,
            body: consume body,
            context: consume context,
            reportsProgress: true
        )
        try check(isChecked: isChecked)
    }

    /// Checks the request, which ``RequestRules`` may have passed.
    /// - Throws: ``RequestError`` when it may not be sent.
    func check(isChecked: Bool) throws {
        if let reason = isChecked ? conflict() : refusal() ?? conflict() {
            throw error(.invalidRequest(reason))
        }
        if let problem = context.settings.policyProblem {
            // A policy that can accept nobody is told before any traffic, with the error that it would end in.
            throw error(.untrustedServer(problem))
        }
        do throws(ClientIdentityError) {
            // Plain http never asks for it.
            if let clientIdentity, url.scheme?.asciiLowercased != "http" { try clientIdentity.check() }
        } catch {
            // The server would only answer with an alert.
            var failure = self.error(.invalidConfiguration("\(error)"))
            failure.underlying = error
            throw failure
        }
    }

    /// Whether the call was cancelled.
    ///
    /// It may be before its command to start is taken; this is set before the command to cancel is posted, so whichever
    /// comes first, the transfer ends.
    var isCancelled: Bool { cancelled.load(ordering: .acquiring) }

    func cancel() {
        cancelled.store(true, ordering: .releasing)
    }

    /// Why the request may not be sent; nil when it may.
    private func refusal() -> String? {
        guard method.rawValue.isHTTPToken else { return "the method is no token" }
        guard method != .connect else { return "CONNECT makes tunnels, which the engine does by itself" }
        if let field = headers.firstInvalidField {
            let name = field.name.isHTTPToken ? "“\(field.name)”" : "a field"
            return
                "the header field \(name) has a name or value that may not be sent (CR, LF, NUL or no token)"
        }
        return nil
    }

    /// What contradicts the body; nil when nothing does.
    private func conflict() -> String? {
        let isKnown = context.settings.knows(headers)
        for name in ["Content-Length", "Transfer-Encoding"] where !isKnown && headers.contains(name) {
            return "the header field “\(name)” is set by the engine from the body; remove it"
        }
        if !body.isEmpty, method == .head { return "HEAD carries no body" }
        return nil
    }

    /// An error of this request.
    func error(
        _ kind: RequestError.Kind,
        response: HTTPResponse? = nil,
        code: Int? = nil,
        detail: String? = nil,
        phase: RequestError.Phase? = nil
    ) -> RequestError {
        RequestError(
            kind,
            method: method,
            url: url.absoluteString,
            attempt: context.attempt,
            response: response,
            libcurlCode: code,
            detail: detail,
            phase: phase
        )
    }
}
