import Foundation
import NetManagerFoundation
import Testing

/// The wrapper's errors as its users cast them.
@Suite struct AKNetPackegeAFNErrorTests {
    private let wrapper = AKNetPackegeAFN(
        manager: HTTPSessionManager(.init(), transport: StubTransport(json: #"{"why":1}"#, status: 403))
    )

    @Test func `an error that is cast has domain and code`() async {
        let number: String? = await withCheckedContinuation { done in
            wrapper.netWorkType(.get, signature: nil, api: "https://h/x", parameters: nil) { _ in
                done.resume(returning: nil)
            } fail: { error in
                done.resume(returning: (error as NSError).number)
            }
        }
        #expect(number == "com.alamofire.error.serialization.response -1011")
    }

    @Test func `a closure that asks for an NSError gets its dictionary too`() async {
        let body: Data? = await withCheckedContinuation { done in
            wrapper.netWorkType(
                .post,
                signature: nil,
                api: "https://h/x",
                parameters: ["a": 1],
                success: { _ in done.resume(returning: nil) },
                fail: { (error: NSError) in
                    let key = AFNetworkingOperationFailingURLResponseDataErrorKey
                    done.resume(returning: error.userInfo[key] as? Data)
                }
            )
        }
        #expect(body == Data(#"{"why":1}"#.utf8))
    }

    @Test func `closures that are nil go to the wrapper's own method`() {
        wrapper.netWorkType(.get, signature: nil, api: "x", parameters: nil, success: nil, fail: nil)
    }
}
