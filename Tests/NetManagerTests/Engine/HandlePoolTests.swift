import FoundationEssentials
import Glibc
import SecurityPolicy
import TestPKI
import Testing

@testable import NetManager

@Suite struct HandlePoolTests {
    @Test func `a handle that waits for its next request keeps no identity and no password`() throws {
        // Nothing is waited for here.
        let selector = Selector(epoll: open("/dev/null", O_RDONLY | O_CLOEXEC), wakeDescriptor: -1)
        defer { selector.close() }
        CurlLibrary.prepare()
        let pool = HandlePool(configuration: .init(), selector: selector)
        defer {
            pool.close()
            pool.closeShare()
        }
        let handle = try #require(pool.take())
        let identity = try Identity.selfSigned(.server(.dns("client")))
        let pem = Data((identity.chainPEM + identity.privateKeyPEM).utf8)
        try handle.apply(try ClientIdentity(pem: pem))
        try handle.apply(Authentication(user: "user", password: "password"))
        handle.applied.authentication = .some(Authentication(user: "user", password: "password"))
        #expect(handle.applied.clientIdentity != nil)
        pool.give(back: handle)
        #expect(handle.applied.clientIdentity == nil)
        #expect(handle.applied.authentication ?? nil == nil)
        // It is the same one that the next request gets.
        #expect(pool.take() === handle)
    }
}
