public import Foundation
import NetManager
import Serializers

extension NSError {
    /// Makes an `NSError` with AFNetworking's domain, code and `userInfo` of an error of the library's.
    ///
    /// On Linux `error as NSError` gives the same domain, code and description, but nothing else in `userInfo`:
    /// Foundation there takes a dictionary only from types that have one domain for all their values. Where
    /// `userInfo` matters, use this.
    /// - Parameter error: ``RequestError`` and ``SerializationError`` get all that is said at their `errorUserInfo`; a
    ///   `CancellationError`, which async calls throw, becomes −999 as that of a call with closures does; any other
    ///   error becomes what `as NSError` makes of it.
    public convenience init(requestError error: any Error) {
        switch error {
        case let error as RequestError:
            self.init(error.number, userInfo: error.errorUserInfo)
        case let error as SerializationError:
            self.init(error.number, userInfo: error.errorUserInfo)
        case let error as CancellationError:
            self.init(.url(NSURLErrorCancelled), userInfo: [NSLocalizedDescriptionKey: "\(error)"])
        default:
            let other = error as NSError
            self.init(domain: other.domain, code: other.code, userInfo: other.userInfo)
        }
    }

    private convenience init(_ number: ErrorNumber, userInfo: [String: Any]) {
        self.init(domain: number.domain, code: number.code, userInfo: userInfo)
    }
}
