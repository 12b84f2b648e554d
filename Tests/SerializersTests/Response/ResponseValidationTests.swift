import FoundationEssentials
import HTTPMessage
import Serializers
import Testing

@Suite("Which responses are accepted") struct ResponseValidationTests {
    /// What the validation says, as a word that tests can compare.
    private func verdict(of validation: ResponseValidation, on response: HTTPResponse) -> String {
        do {
            try validation.validate(response)
            return "accepted"
        } catch .unacceptableStatus(let status, let underlying) {
            switch underlying {
            case nil: return "status \(status)"
            case .unacceptableContentType(let type, _): return "status \(status), type \(type ?? "none")"
            default: return "status \(status), other"
            }
        } catch .unacceptableContentType(let type, _) {
            return "type \(type ?? "none")"
        } catch {
            return "other"
        }
    }

    private let html = ResponseValidation(acceptableContentTypes: ["text/html"])

    @Test(arguments: 200...299)
    func `case 407: every status of 200 to 299 is accepted`(status: Int) throws {
        let response = try makeResponse(status, type: "text/html", "text")
        #expect(verdict(of: ResponseValidation(), on: response) == "accepted")
    }

    @Test(arguments: [100, 199, 300, 304, 404, 500, 999])
    func `any other status is not`(status: Int) throws {
        #expect(verdict(of: ResponseValidation(), on: try makeResponse(status)) == "status \(status)")
    }

    @Test func `case 409: without a type and a body there is nothing to refuse`() throws {
        #expect(verdict(of: html, on: try makeResponse(205)) == "accepted")
    }

    @Test func `case 410: a body without a type is refused when types are set`() throws {
        #expect(verdict(of: html, on: try makeResponse(205, "test")) == "type none")
    }

    @Test func `case 412: a copy keeps the settings and is independent`() {
        var copy = html
        #expect(copy == html)
        copy.acceptableContentTypes = nil
        #expect(html.acceptableContentTypes == ["text/html"])
    }

    @Test func `case 413: a validation is equal after it was encoded and decoded`() throws {
        for original in [html, ResponseValidation(acceptableStatusCodes: nil)] {
            let archive = try JSONEncoder().encode(original)
            #expect(try JSONDecoder().decode(ResponseValidation.self, from: archive) == original)
        }
    }

    @Test func `case 415: the text of a bad status names it and shows nothing of the body`() throws {
        let error = #expect(throws: SerializationError.self) {
            try html.validate(makeResponse(404, type: "text/plain; token=secret", "secret"))
        }
        let text = try #require(error.map { "\($0)" })
        #expect(text.contains("404 (not found)"))
        #expect(text.contains("text/plain"))
        #expect(!text.contains("secret"))
    }

    @Test func `case 421: types are compared without regard to case, parameters ignored`() throws {
        let response = try makeResponse(type: "Text/HTML ; Charset=UTF-8", "x")
        #expect(verdict(of: html, on: response) == "accepted")
        let upper = ResponseValidation(acceptableContentTypes: ["TEXT/html"])
        #expect(verdict(of: upper, on: response) == "accepted")
    }

    @Test func `case 422: a vendor's type is refused until it is added`() throws {
        var validation = ResponseValidation(acceptableContentTypes: JSONResponseSerializer.contentTypes)
        let response = try makeResponse(type: "application/vnd.api+json", "{}")
        #expect(verdict(of: validation, on: response) == "type application/vnd.api+json")
        validation.acceptableContentTypes?.insert("application/vnd.api+json")
        #expect(verdict(of: validation, on: response) == "accepted")
    }

    @Test func `case 424: another set of statuses replaces the usual one`() throws {
        let validation = ResponseValidation(acceptableStatusCodes: [404])
        #expect(verdict(of: validation, on: try makeResponse(404)) == "accepted")
        #expect(verdict(of: validation, on: try makeResponse(200)) == "status 200")
    }

    @Test func `case 425: nil accepts every status and an empty set none`() throws {
        for status in [100, 200, 404, 599] {
            let response = try makeResponse(status)
            #expect(verdict(of: ResponseValidation(acceptableStatusCodes: nil), on: response) == "accepted")
            let none = ResponseValidation(acceptableStatusCodes: [])
            #expect(verdict(of: none, on: response) == "status \(status)")
        }
    }

    @Test func `an empty set of types refuses every body, and only bodies`() throws {
        let none = ResponseValidation(acceptableContentTypes: [])
        #expect(verdict(of: none, on: try makeResponse(type: "text/html", "x")) == "type text/html")
        #expect(verdict(of: none, on: try makeResponse(type: "text/html")) == "accepted")
    }

    @Test func `a type that is none is refused as it stands`() throws {
        #expect(verdict(of: html, on: try makeResponse(type: "html", "x")) == "type html")
    }

    @Test func `the status stands on top of the type`() throws {
        let response = try makeResponse(500, type: "text/plain", "x")
        #expect(verdict(of: html, on: response) == "status 500, type text/plain")
        #expect(verdict(of: html, on: try makeResponse(500, type: "text/plain")) == "status 500")
    }
}
