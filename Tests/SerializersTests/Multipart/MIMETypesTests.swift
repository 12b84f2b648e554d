import Testing

@testable import Serializers

@Suite struct MIMETypesTests {
    @Test func `case 365: a certificate has the type that Apple's systems give it`() {
        #expect(MIMETypes.type(ofFileNamed: "root.cer") == "application/x-x509-ca-cert")
    }

    @Test(arguments: [
        ("a.png", "image/png"), ("A.JPG", "image/jpeg"), ("a.b.txt", "text/plain"), (".gif", "image/gif"),
        ("a", "application/octet-stream"), ("a.", "application/octet-stream"),
        ("", "application/octet-stream"),
        ("a.no-such-type", "application/octet-stream"),
    ])
    func `the extension decides, whatever its case`(name: String, type: String) {
        #expect(MIMETypes.type(ofFileNamed: name) == type)
    }

    @Test func `the system's list is read with its comments and its gaps`() {
        let table = MIMETypes.table(
            in: "# comment\napplication/a\ta AA\n\nnonsense x\ntext/b a b # c d\r\nimage/c c"
        )
        #expect(table == ["a": "application/a", "aa": "application/a", "b": "text/b", "c": "image/c"])
    }

    @Test func `a list that is not there is empty`() {
        #expect(MIMETypes.table(atPath: "/nope/mime.types").isEmpty)
    }
}
