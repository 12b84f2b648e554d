import NetManager
import TestPKI
import Testing

/// A folder that is gone when the test is over.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.path + "/netmanager-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }
}

/// What the name of a certificate does to a call, over the manager and over the wrapper.
@Suite struct SignatureTests {
    private func folder(named name: String = "server.cer") throws -> (TemporaryFolder, Identity) {
        let folder = try TemporaryFolder()
        let identity = try Identity.selfSigned(.server("api.example.com"))
        try identity.certificate.writeDER(to: folder.path + "/" + name)
        return (folder, identity)
    }

    @Test(arguments: ["server", "server.cer"])
    func `a named certificate is the only anchor and pin, and the name is checked`(name: String) async throws
    {
        let (folder, identity) = try folder()
        let stub = StubTransport(json: "1")
        let manager = HTTPSessionManager(stub) { $0.certificateDirectories = [folder.path] }
        _ = try await manager.get("x", options: .signature(name))
        let policy = try #require(stub.calls.first).context.policy
        #expect(policy.pinningMode == .certificate)
        #expect(policy.pinnedCertificates.map(\.der) == [identity.certificate.der])
        #expect(policy.allowInvalidCertificates)
        #expect(policy.validatesDomainName)
    }

    @Test func `the check of the name can be turned off for certificates without names`() async throws {
        let (folder, _) = try folder()
        let stub = StubTransport(json: "1")
        let manager = HTTPSessionManager(stub) {
            $0.certificateDirectories = ["/nonexistent", folder.path]
            $0.signatureValidatesDomainName = false
        }
        _ = try await manager.get("x", options: .signature("server"))
        #expect(stub.calls.first?.context.policy.validatesDomainName == false)
    }

    @Test func `a call's own policy beats a signature, which beats the manager's`() async throws {
        let (folder, _) = try folder()
        let stub = StubTransport(json: "1")
        let own = SecurityPolicy(allowInvalidCertificates: true, validatesDomainName: false)
        let manager = HTTPSessionManager(stub) {
            $0.certificateDirectories = [folder.path]
            $0.securityPolicy = SecurityPolicy(validatesDomainName: false)
        }
        var options = RequestOptions.signature("server")
        options.securityPolicy = own
        _ = try await manager.get("x", options: options)
        _ = try await manager.get("x")
        #expect(stub.calls.map(\.context.policy) == [own, SecurityPolicy(validatesDomainName: false)])
    }

    @Test(arguments: ["missing", "../server", "", "broken"])
    func `a certificate that is missing, outside or broken fails with the places, and nothing is sent`(
        name: String
    ) async throws {
        let (folder, _) = try folder()
        try Data("no certificate".utf8).write(to: URL(filePath: folder.path + "/broken.cer"))
        let stub = StubTransport(json: "1")
        let inner = folder.path + "/inner"
        try FileManager.default.createDirectory(atPath: inner, withIntermediateDirectories: true)
        let places = name == "../server" ? [inner] : [folder.path]
        let manager = HTTPSessionManager(stub) { $0.certificateDirectories = places }
        let ended: Outcome<JSONValue> = await outcome { success, failure in
            manager.get("x", options: .signature(name), success: success, failure: failure)
        }
        let error = try #require(ended.error)
        guard case .certificate = error.kind else {
            Issue.record("\(error)")
            return
        }
        #expect(!"\(error)".hasSuffix(".."), "\(error)")
        if name == "missing" || name == "broken" { #expect("\(error)".contains(folder.path)) }
        #expect(stub.requests.isEmpty)
    }

    @Test func `a named certificate and plain http do not go together`() async throws {
        let (folder, _) = try folder()
        let stub = StubTransport(json: "1")
        let manager = HTTPSessionManager(stub) { $0.certificateDirectories = [folder.path] }
        let error = await requestError {
            _ = try await manager.get("http://h/", options: .signature("server"))
        }
        guard case .invalidConfiguration? = error?.kind else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(stub.requests.isEmpty)
    }
}
