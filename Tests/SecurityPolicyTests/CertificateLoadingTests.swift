import Foundation
import SecurityPolicy
import TestPKI
import Testing

@Suite struct CertificateLoadingTests {
    private let tree: PrivateTree
    private let folder: TemporaryFolder

    init() throws {
        tree = try PrivateTree()
        folder = try TemporaryFolder()
    }

    @Test func `a file is read and its path is in every error`() throws {
        let path = try folder.write(tree.leaf.chainPEM, to: "chain.pem")
        #expect(try Certificate.load(contentsOf: path) == tree.leaf.trust.certificates)
        let missing = folder.path + "/missing.pem"
        #expect(throws: CertificateError.unreadable(path: missing, reason: "there is nothing at this path")) {
            try Certificate.load(contentsOf: missing)
        }
        let broken = try folder.write("hello", to: "broken.pem")
        let error = #expect(throws: CertificateError.self) { try Certificate.load(contentsOf: broken) }
        #expect(String(describing: error).contains(broken))
        #expect(throws: CertificateError.unreadable(path: folder.path, reason: "it is not a regular file")) {
            try Certificate.load(contentsOf: folder.path)
        }
        for path in ["", "a\0b", "/dev/zero"] {
            #expect(throws: CertificateError.self) { try Certificate.load(contentsOf: path) }
        }
    }

    @Test func `every certificate file of a folder is read, others are not`() throws {
        try folder.write(tree.leaf.certificateDER, to: "1.cer")
        try folder.write(tree.leaf.chainPEM, to: "2.CRT")
        try folder.write(tree.root.certificate.der, to: "3.der")
        try folder.write(tree.root.certificate.pem, to: "4.pem")
        try folder.write(tree.leaf.privateKeyPEM, to: "key.txt")
        try FileManager.default.createDirectory(
            atPath: folder.path + "/more.cer",
            withIntermediateDirectories: true
        )
        let root = try tree.root.asCertificate
        #expect(
            try Certificate.load(allIn: folder.path) == [tree.leaf.leaf] + tree.leaf.trust.certificates + [
                root, root,
            ]
        )
        try folder.write("nonsense", to: "5.pem")
        let error = #expect(throws: CertificateError.self) { try Certificate.load(allIn: folder.path) }
        #expect(String(describing: error).contains("5.pem"))
        #expect(throws: CertificateError.self) { try Certificate.load(allIn: folder.path + "/none") }
        #expect(try Certificate.load(allIn: folder.path + "/more.cer") == [])
    }

    @Test(arguments: ["cer", "crt", "der", "pem"])
    func `a certificate is found by name with and without its ending`(ending: String) throws {
        let text = ending == "pem" ? Data(tree.leaf.certificatePEM.utf8) : tree.leaf.certificateDER
        try folder.write(text, to: "server." + ending)
        let other = try TemporaryFolder()
        for name in ["server", "server." + ending] {
            let found = try Certificate.load(named: name, in: [other.path, folder.path + "/"])
            #expect(found == [try tree.leaf.leaf])
        }
    }

    @Test func `a name that is not found tells every place that was searched`() throws {
        let error = #expect(throws: CertificateError.self) {
            try Certificate.load(named: "server", in: [folder.path, "/nowhere"])
        }
        let endings = ["cer", "crt", "der", "pem"]
        let searched = endings.map { "\(folder.path)/server.\($0)" } + endings.map { "/nowhere/server.\($0)" }
        #expect(error == .notFound(name: "server", searched: searched))
        let places = "\(folder.path)/server.{cer,crt,der,pem}, /nowhere/server.{cer,crt,der,pem}"
        #expect(error.map { "\($0)".contains("Tried: \(places). ") } == true)
        let others = CertificateError.notFound(name: "a", searched: ["/x.d/a", "/x.d/b", "c.pem", "d.pem"])
        #expect("\(others)".contains("Tried: /x.d/a, /x.d/b, c.pem, d.pem. "))
        #expect(throws: CertificateError.notFound(name: "a.pem", searched: ["/nowhere/a.pem"])) {
            try Certificate.load(named: "a.pem", in: ["/nowhere"])
        }
        #expect(throws: CertificateError.notFound(name: "server", searched: [])) {
            try Certificate.load(named: "server", in: [])
        }
    }

    @Test func `a broken file is not passed over for one in another directory`() throws {
        let other = try TemporaryFolder()
        try folder.write("broken", to: "server.cer")
        try other.write(tree.leaf.certificateDER, to: "server.cer")
        #expect(throws: CertificateError.self) {
            try Certificate.load(named: "server", in: [folder.path, other.path])
        }
    }

    @Test(arguments: [
        "", ".", "..", "../server", "sub/server", "/etc/ssl/server", "server\0", "..\u{2F}server.cer",
    ])
    func `a name never leads out of the directories`(name: String) throws {
        let inner = folder.path + "/inner"
        try FileManager.default.createDirectory(atPath: inner + "/sub", withIntermediateDirectories: true)
        for path in ["server.cer", "inner/sub/server.cer"] {
            try folder.write(tree.leaf.certificateDER, to: path)
        }
        let error = #expect(throws: CertificateError.self) { try Certificate.load(named: name, in: [inner]) }
        guard case .malformed(let reason) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.contains("plain file name"))
    }

    @Test func `a file that is larger than any list of authorities is refused`() throws {
        let path = try folder.write(Data(count: 16 << 20 | 1), to: "large.pem")
        #expect(throws: CertificateError.unreadable(path: path, reason: "it is larger than 16 MiB")) {
            try Certificate.load(contentsOf: path)
        }
    }
}
