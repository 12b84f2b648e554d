public import Foundation
public import NetManager
public import Serializers

/// Called with the error as Foundation's, with AFNetworking's domain, code and `userInfo`.
public typealias HttpNSErro = @Sendable (NSError) -> Void

extension AKNetPackegeAFN {
    /// Makes a request as the method of the same name does, and gives an `NSError` to a closure that asks for one:
    /// `fail: { (error: NSError) in … }`.
    ///
    /// A closure that does not say its parameter's type goes to the other method.
    /// - Parameters:
    ///   - netWorkType: GET or POST.
    ///   - signature: The name of a certificate file; nil for the manager's policy.
    ///   - api: The URL.
    ///   - parameters: The parameters; nil for none.
    ///   - success: Called with the JSON of the response; nil to ignore it.
    ///   - fail: Called with the error of `NSError(requestError:)`. Exactly one of the two is called, once, on the
    ///     manager's completion queue.
    public func netWorkType(
        _ netWorkType: AKNetWorkType,
        signature: String?,
        api: String,
        parameters: JSONValue?,
        success: HttpSuccess?,
        fail: @escaping HttpNSErro
    ) {
        let convert: HttpErro = { error in fail(NSError(requestError: error)) }
        self.netWorkType(
            netWorkType,
            signature: signature,
            api: api,
            parameters: parameters,
            success: success,
            fail: convert
        )
    }
}
