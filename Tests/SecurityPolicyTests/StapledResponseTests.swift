import Foundation
import SecurityPolicy
import TestPKI
import Testing

@Suite struct StapledResponseTests {
    private let tree: PrivateTree
    private let demanding: Identity

    init() throws {
        tree = try PrivateTree()
        demanding = try tree.intermediate.issue(.server("api.test").with { $0.mustStaple = true })
    }

    private func refusal(
        _ response: Data?,
        _ mode: SecurityPolicy.StapledOCSP = .ifPresent,
        of identity: Identity? = nil,
        at date: Date? = nil
    ) throws -> String? {
        var policy = try tree.policy()
        policy.stapledOCSP = mode
        policy.verificationDate = date
        var trust = try (identity ?? tree.leaf).trust
        trust.stapledOCSPResponse = response
        switch policy.refusal(trust, "api.test") {
        case nil: return nil
        case .revoked(let reason): return reason
        case let other: return "another error: \(String(describing: other))"
        }
    }

    @Test func `a good response is accepted`() throws {
        let good = try tree.intermediate.ocspResponse(for: tree.leaf.certificate)
        for mode in [SecurityPolicy.StapledOCSP.off, .ifPresent, .required] {
            let reason = try refusal(good, mode)
            #expect(reason == nil)
        }
    }

    @Test func `a revoked certificate is refused, unless nobody looks`() throws {
        let revoked = try tree.intermediate.ocspResponse(for: tree.leaf.certificate, status: .revoked(.now))
        let reason = try refusal(revoked) ?? "accepted"
        #expect(reason.contains("revoked"))
        #expect(reason.contains("keyCompromise"))
        #expect(try refusal(revoked, .off) == nil)
    }

    @Test func `a response that shows nothing is refused`() throws {
        let leaf = tree.leaf.certificate
        let other = try tree.intermediate.issue(.server("other.test")).certificate
        let stranger = try Authority(commonName: "Stranger")
        let responses: [(word: String, data: Data)] = [
            ("does not know", try tree.intermediate.ocspResponse(for: leaf, status: .unknown)),
            ("another certificate", try tree.intermediate.ocspResponse(for: other)),
            ("not signed", try tree.intermediate.ocspResponse(for: leaf, signer: stranger)),
            ("not signed", try tree.intermediate.ocspResponse(for: leaf, signer: tree.root)),
            ("expired", try tree.intermediate.ocspResponse(for: leaf, validity: .expired)),
            ("future", try tree.intermediate.ocspResponse(for: leaf, validity: .notYet)),
            ("malformed", Data("nonsense".utf8)),
        ]
        for (word, data) in responses {
            let reason = try refusal(data) ?? "accepted"
            #expect(reason.contains(word), "\(reason)")
        }
    }

    @Test func `a missing response is refused where one is required or demanded`() throws {
        #expect(try refusal(nil, .ifPresent) == nil)
        #expect(try refusal(nil, .required) != nil)
        #expect(try refusal(Data(), .required) != nil)
        #expect(try refusal(nil, .off, of: demanding) == nil)
        #expect(try refusal(nil, .ifPresent, of: demanding) != nil)
        let good = try tree.intermediate.ocspResponse(for: demanding.certificate)
        #expect(try refusal(good, .ifPresent, of: demanding) == nil)
    }

    @Test func `the clock of a response is the policy's`() throws {
        let good = try tree.intermediate.ocspResponse(for: tree.leaf.certificate, validity: .years(1))
        #expect(try refusal(good, at: .now.addingTimeInterval(86_400)) == nil)
        let late = try tree.intermediate.ocspResponse(
            for: tree.leaf.certificate,
            validity: .init(from: .now.addingTimeInterval(-86_400), to: .now.addingTimeInterval(3_600))
        )
        let reason = try refusal(late, at: .now.addingTimeInterval(7_200)) ?? "accepted"
        #expect(reason.contains("expired"))
    }

    @Test func `a response that does not say when the next one comes counts for a day`() throws {
        let now = Date.now
        func response(hoursAgo hours: Double) throws -> Data {
            let start = now.addingTimeInterval(-hours * 3_600)
            return try tree.intermediate.ocspResponse(
                for: tree.leaf.certificate,
                validity: .init(from: start, to: start),
                namesNextUpdate: false
            )
        }
        for mode in [SecurityPolicy.StapledOCSP.ifPresent, .required] {
            #expect(try refusal(response(hoursAgo: 0), mode, at: now) == nil)
            #expect(try refusal(response(hoursAgo: 24), mode, at: now) == nil)
            let old = try refusal(response(hoursAgo: 24.2), mode, at: now) ?? "accepted"
            #expect(old.contains("no time of the next one") && old.contains("older than a day"), "\(old)")
            let early = try refusal(response(hoursAgo: -1), mode, at: now) ?? "accepted"
            #expect(early.contains("future"), "\(early)")
        }
        let revoked = try tree.intermediate.ocspResponse(
            for: tree.leaf.certificate,
            status: .revoked(now),
            namesNextUpdate: false
        )
        #expect(try refusal(revoked) != nil)
    }

    @Test func `a pinned leaf's issuer may be in what was sent`() throws {
        var policy = try tree.policy(.certificate, pins: [tree.leaf.certificate], allowInvalid: true)
        policy.stapledOCSP = .required
        var trust = try tree.leaf.trust
        trust.stapledOCSPResponse = try tree.intermediate.ocspResponse(for: tree.leaf.certificate)
        #expect(policy.accepts(trust, forDomain: "api.test"))
        trust.certificates.removeLast()
        #expect(!policy.accepts(trust, forDomain: "api.test"))
        // Where none is asked for, one that nobody can check is none.
        policy.stapledOCSP = .ifPresent
        #expect(policy.accepts(trust, forDomain: "api.test"))
    }
}
