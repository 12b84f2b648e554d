import HTTPMessage
import Testing

@Suite struct AuthorizationTests {
    @Test func `case 229: a user and a password become base64`() {
        var headers: HTTPHeaders = ["authorization": "old"]
        headers.setBasicAuthorization(user: "user", password: "password")
        #expect(headers[values: "Authorization"] == ["Basic dXNlcjpwYXNzd29yZA=="])
    }

    @Test func `case 230: they are encoded as UTF-8, and the password may hold colons`() {
        var headers = HTTPHeaders()
        headers.setBasicAuthorization(user: "jürgen", password: "pä:ss")
        #expect(headers["Authorization"] == "Basic asO8cmdlbjpww6Q6c3M=")
    }

    @Test func `a token is sent as it is, and can be removed`() {
        var headers = HTTPHeaders()
        headers.setBearerAuthorization("a.b-c~d+e/f=")
        #expect(headers["Authorization"] == "Bearer a.b-c~d+e/f=")
        headers.removeAuthorization()
        #expect(headers.isEmpty)
    }

    @Test func `report 63: a token cannot start a new line`() {
        var headers = HTTPHeaders()
        headers.setBearerAuthorization("a\r\nX-Evil: 1")
        #expect(headers.firstInvalidField?.name == "Authorization")
    }
}
