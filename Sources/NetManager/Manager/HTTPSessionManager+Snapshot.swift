import Dispatch
import HTTPMessage
import SecurityPolicy
import Serializers

extension HTTPSessionManager {
    /// A configuration and what is derived from it, so that it is not derived for every call; taking one is a retain.
    final class Snapshot: Sendable {
        let configuration: Configuration
        let base: URLReference?
        /// What calls wrote, read against ``base``.
        private let urls = CheckedURLs()
        /// How calls without options of their own are carried.
        let carriage: TransportContext.Settings
        /// What the steps of calls without options of their own go by.
        let steps: CallSettings
        /// The configuration's header fields, with those that are sent where nobody set them.
        let completeHeaders: HTTPHeaders
        /// Whether the request serializer leaves a GET without parameters as it is.
        private let leavesGets: Bool
        /// The nanoseconds that a call without a timeout of its own may take.
        let timeout: Int64
        /// Where the closures of a call are called.
        let completionQueue: DispatchQueue

        init(_ configuration: Configuration, ownQueue: DispatchQueue) {
            let queue = configuration.completionQueue ?? ownQueue
            self.configuration = configuration
            completionQueue = queue
            timeout = Snapshot.nanoseconds(configuration.timeout)
            base = configuration.baseURL.map(RequestURL.base)
            steps = CallSettings(
                interceptors: configuration.interceptors,
                retryPolicy: configuration.retryPolicy,
                redirectPolicy: configuration.redirectPolicy,
                challengeHandler: configuration.challengeHandler,
                isRepeatable: false
            )
            completeHeaders =
                configuration.sendsDefaultHeaders
                ? configuration.headers.completed(by: DefaultHeaders.all) : configuration.headers
            let serializer = configuration.requestSerializer as? FormRequestSerializer
            leavesGets = serializer?.putsParametersInURL(of: .get) == true
            var values = Snapshot.carriage(configuration, queue)
            if completeHeaders.areSound { values.soundHeaders = completeHeaders }
            carriage = TransportContext.Settings(values)
        }

        private static func carriage(
            _ configuration: Configuration,
            _ queue: DispatchQueue
        ) -> TransportContext.Settings.Values {
            let policy = configuration.securityPolicy
            // The policy's identity is a digest.
            var values = TransportContext.Settings.Values(policy: policy, policyID: policy.policyID)
            values.hostPolicies = configuration.hostPolicies
            if let observer = configuration.trustObserver {
                values.trustObserver = { report in queue.async { observer(report) } }
            }
            values.serverTrustHook = configuration.serverTrustHook
            values.clientIdentity = configuration.clientIdentity
            values.timeouts = configuration.timeouts
            values.connection = configuration.connection
            values.authentication = configuration.authentication
            values.maximumDecompressionRatio = configuration.maximumDecompressionRatio
            values.cookieJar = configuration.cookieJar
            return values
        }

        /// A time that a call may take, as the library counts it.
        static func nanoseconds(_ timeout: Duration) -> Int64 { max(0, min(timeout, .longest).nanoseconds) }

        /// How a call is carried: as all of the configuration's, or with its options laid over that.
        /// - Parameters:
        ///   - options: The options of the call.
        ///   - policy: The policy that the call has of its own; nil for the configuration's.
        /// - Returns: The settings; those of the snapshot itself where the call changes none.
        func carriage(_ options: RequestOptions, policy: SecurityPolicy?) -> TransportContext.Settings {
            guard policy != nil || options.changeCarriage else { return carriage }
            var values = carriage.values
            if let policy {
                values.policy = policy
                values.policyID = policy.policyID
                values.hostPolicies = nil
            }
            values.clientIdentity = options.clientIdentity ?? values.clientIdentity
            values.timeouts = options.timeouts ?? values.timeouts
            values.connection = options.connection ?? values.connection
            values.authentication = options.authentication ?? values.authentication
            values.maximumDecompressionRatio =
                options.maximumDecompressionRatio ?? values.maximumDecompressionRatio
            values.cookieJar = options.cookieJar ?? values.cookieJar
            return TransportContext.Settings(values)
        }

        /// Reads the URL of a call.
        func checkedURL(_ text: String) throws(URLProblem) -> RequestRules.CheckedURL {
            if let url = urls.url(text) { return url }
            let url = try RequestURL.checkedURL(text, base: base)
            urls.keep(url, for: text)
            return url
        }

        /// Whether the request of a call is its URL with the configuration's header fields, as that of most calls is.
        func writesNothing(for call: Call) -> Bool {
            leavesGets && call.method == .get && call.parameters == nil && call.content == nil
                && call.headers.isEmpty
        }

        /// A request's header fields, with those that are sent where nobody set them.
        func completed(_ headers: HTTPHeaders) -> HTTPHeaders {
            if headers.isIdentical(to: configuration.headers) { return completeHeaders }
            return configuration.sendsDefaultHeaders ? headers.completed(by: DefaultHeaders.all) : headers
        }

        /// What the steps of a call go by.
        func steps(_ options: RequestOptions) -> CallSettings {
            guard
                options.retryPolicy != nil || options.redirectPolicy != nil || options.isRepeatable
                    || options.challengeHandler != nil
            else { return steps }
            return CallSettings(
                interceptors: steps.interceptors,
                retryPolicy: options.retryPolicy ?? steps.retryPolicy,
                redirectPolicy: options.redirectPolicy ?? steps.redirectPolicy,
                challengeHandler: options.challengeHandler ?? steps.challengeHandler,
                isRepeatable: options.isRepeatable
            )
        }
    }
}

extension HTTPHeaders {
    /// Whether these fields may be sent with any request without a body.
    fileprivate var areSound: Bool {
        firstInvalidField == nil && !contains("Content-Length") && !contains("Transfer-Encoding")
    }

    /// The fields, and of another collection those whose names are not among them.
    func completed(by others: HTTPHeaders) -> HTTPHeaders {
        var headers = self
        for field in others where !contains(field.name) { headers.add(field.value, for: field.name) }
        return headers
    }
}
