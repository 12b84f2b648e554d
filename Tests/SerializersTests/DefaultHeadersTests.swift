import HTTPMessage
import Testing

@testable import Serializers

@Suite struct DefaultHeadersTests {
    @Test func `case 232: six languages are named, each with a lower quality`() {
        #expect(
            DefaultHeaders.acceptLanguage(of: ["en", "fr", "de", "ja", "nl", "it", "es"])
                == "en;q=1, fr;q=0.9, de;q=0.8, ja;q=0.7, nl;q=0.6, it;q=0.5"
        )
        #expect(DefaultHeaders.acceptLanguage(of: []) == nil)
    }

    static let environments: [([String: String], [String])] = [
        ([:], []),
        (["LANG": "de_DE.UTF-8"], ["de-DE"]),
        (["LANG": "de_DE@euro"], ["de-DE"]),
        (["LANG": "C"], []), (["LANG": "C.UTF-8"], []), (["LANG": "POSIX"], []), (["LANG": ""], []),
        (["LANG": "en", "LC_MESSAGES": "fr_CA"], ["fr-CA"]),
        (["LANG": "en", "LC_MESSAGES": "fr", "LC_ALL": "nl_NL"], ["nl-NL"]),
        (["LANG": "en", "LC_ALL": ""], ["en"]),
        (["LANG": "en", "LC_ALL": "C", "LANGUAGE": "de"], []),
        (["LANG": "de_DE.UTF-8", "LANGUAGE": "de:en_GB:en:de"], ["de", "en-GB", "en"]),
        (["LANGUAGE": "de"], []),
        (["LANG": "de", "LANGUAGE": "x\r\nEvil: 1:C:"], ["de"]),
        (["LANG": "a,b"], []), (["LANG": "zh_Hant_TW"], ["zh-Hant-TW"]),
    ]

    @Test(arguments: environments)
    func `languages come from the locale, and from LANGUAGE where there is one`(
        environment: [String: String],
        languages: [String]
    ) {
        #expect(DefaultHeaders.languages(environment: environment) == languages)
    }

    @Test func `the user agent is the process's name and the library`() {
        #expect(DefaultHeaders.userAgent(processName: "app") == "app NetManager (Linux)")
        #expect(DefaultHeaders.userAgent(processName: "my app/ü\r\n") == "my-app----- NetManager (Linux)")
        #expect(DefaultHeaders.userAgent(processName: "") == "NetManager (Linux)")
    }

    @Test func `the default fields may be sent`() {
        #expect(DefaultHeaders.all.firstInvalidField == nil)
        #expect(DefaultHeaders.all["User-Agent"]?.hasSuffix("NetManager (Linux)") == true)
    }
}
