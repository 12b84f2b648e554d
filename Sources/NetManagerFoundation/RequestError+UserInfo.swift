import Foundation
import FoundationNetworking
import HTTPMessage
public import NetManager
import SecurityPolicy
import Serializers

extension RequestError {
    /// What the `userInfo` of `NSError(requestError:)` holds.
    ///
    /// - `NSLocalizedDescriptionKey`: the error's text.
    /// - `NSURLErrorFailingURLErrorKey` (`URL`) and `NSURLErrorFailingURLStringErrorKey` (`String`): the request's URL
    ///   without user info, query and fragment, as an `NSError` prints its `userInfo` and so ends in logs.
    /// - ``AFNetworkingOperationFailingURLResponseErrorKey`` (`HTTPURLResponse`) and
    ///   ``AFNetworkingOperationFailingURLResponseDataErrorKey`` (`Data`), where there was a response.
    /// - `NSUnderlyingErrorKey` (`NSError`): what lies underneath, such as the content type under a status, or the
    ///   policy's reason under −1202.
    /// - `NSURLErrorFailingURLPeerTrustErrorKey` (`ServerTrust`): the certificates that the server showed, where the
    ///   policy refused them.
    ///
    /// What has no value is not in it.
    public var errorUserInfo: [String: Any] {
        var info: [String: Any] = [NSLocalizedDescriptionKey: description]
        if !request.url.isEmpty {
            // The value of NSURLErrorFailingURLStringErrorKey, which is deprecated and still looked up.
            info["NSErrorFailingURLStringKey"] = request.url
            info[NSURLErrorFailingURLErrorKey] = URL(string: request.url)
        }
        if let response {
            info[AFNetworkingOperationFailingURLResponseErrorKey] = HTTPURLResponse(response.head)
            info[AFNetworkingOperationFailingURLResponseDataErrorKey] = response.body
        }
        if let cause { info[NSUnderlyingErrorKey] = NSError(requestError: cause) }
        if let serverTrust { info[NSURLErrorFailingURLPeerTrustErrorKey] = serverTrust }
        return info.merging(placeOfFailure) { own, _ in own }
    }

    private var cause: (any Error)? {
        switch kind {
        case .untrustedServer(let error): error
        case .certificate(let error): error
        case .undecodable(let error): error.cause
        case .custom(let error): error
        default: underlying is UnsendableBody ? nil : underlying
        }
    }

    /// Where in the body reading stopped.
    private var placeOfFailure: [String: Any] {
        if case .undecodable(let error) = kind { error.placeOfFailure } else { [:] }
    }
}
