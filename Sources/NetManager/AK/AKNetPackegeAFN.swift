public import Serializers

/// The kind of a request, with the wrapper's raw values.
public enum AKNetWorkType: Int, Sendable {
    /// GET: parameters go into the URL's query.
    case get = 0
    /// POST: parameters go into the body as a form.
    case post = 1
}

/// Called with the JSON of a response that was accepted.
public typealias HttpSuccess = @Sendable (JSONValue) -> Void

/// Called with the error, a ``RequestError``.
public typealias HttpErro = @Sendable (any Error) -> Void

/// The wrapper around AFNetworking that many programs carry, with the names that Swift would have imported.
///
/// It keeps its callers' code working and not its faults: nothing is replaced from call to call, a named certificate
/// that is missing is an error, the named certificates are the only anchors, and the server's name is checked.
public final class AKNetPackegeAFN: Sendable {
    private static let instance = AKNetPackegeAFN(manager: .shared)

    /// The content types that the wrapper accepts; all of them are read as JSON.
    public static let acceptableContentTypes: Set<String> = [
        "application/json", "application/xml", "text/xml", "text/json", "text/plain", "text/javascript",
        "text/html",
    ]

    private let manager: HTTPSessionManager

    /// Makes a wrapper around a manager of one's own.
    public init(manager: HTTPSessionManager) {
        self.manager = manager
    }

    /// The one wrapper, around ``HTTPSessionManager/shared``.
    public static func shareHttpManager() -> AKNetPackegeAFN {
        instance
    }

    /// Makes a request.
    /// - Parameters:
    ///   - netWorkType: GET or POST.
    ///   - signature: The name of a certificate file, with or without its extension, in the manager's
    ///     ``HTTPSessionManager/Configuration/certificateDirectories``: the server must be that one or be certified by
    ///     it, and have the right name. Nil for the manager's policy. A file that is missing or unreadable calls
    ///     `fail` with the places that were searched, and nothing is sent.
    ///   - api: The URL.
    ///   - parameters: The parameters; nil for none.
    ///   - success: Called with the JSON of the response; nil to ignore it.
    ///   - fail: Called with the error; nil to ignore it. Exactly one of the two is called, once, on the manager's
    ///     completion queue.
    public func netWorkType(
        _ netWorkType: AKNetWorkType,
        signature: String?,
        api: String,
        parameters: JSONValue?,
        success: HttpSuccess?,
        fail: HttpErro?
    ) {
        _ = manager.request(
            netWorkType == .get ? .get : .post,
            signature: signature,
            api: api,
            parameters: parameters,
            as: { configuration in
                var serializer = configuration.responseSerializer
                serializer.validation.acceptableContentTypes = AKNetPackegeAFN.acceptableContentTypes
                return serializer
            },
            success: success,
            fail: { error in fail?(error) }
        )
    }
}
