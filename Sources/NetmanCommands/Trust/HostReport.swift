import FoundationEssentials
import SecurityPolicy
import Serializers

/// What is to be said about one host: a pure function of what the handshake showed.
struct HostReport: Sendable {
    /// Something that needs attention, and a word for programs.
    struct Finding: Sendable, Equatable {
        var label: String
        var text: String
    }

    var server: ServerAddress
    var outcome: HostCheck.Outcome
    /// Everything that needs attention; empty if all is well.
    var findings: [Finding] = []
    /// What is worth knowing.
    var facts: [String] = []
    var status = CommandStatus.success
    private var expiry: Date?
    private var match: String?

    /// Judges an outcome.
    ///
    /// - Parameters:
    ///   - server: The host.
    ///   - policy: Its policy.
    ///   - outcome: What came of the connection.
    ///   - now: The time.
    ///   - days: What expires sooner needs attention.
    ///   - wantsBackup: Whether a policy with pins must have one that the server does not use.
    init(
        server: ServerAddress,
        policy: SecurityPolicy?,
        outcome: HostCheck.Outcome,
        now: Date,
        days: Int,
        wantsBackup: Bool
    ) {
        self.server = server
        self.outcome = outcome
        switch outcome {
        case .unreachable(let reason):
            findings.append(Finding(label: "unreachable", text: reason))
            status = .failed
            return
        case .refused(let error):
            findings.append(Finding(label: "refused", text: "\(error)"))
        case .trusted(let decision):
            describe(decision, now: now, days: days)
            if let policy { lookAhead(policy, decision, now: now, days: days, wantsBackup: wantsBackup) }
        }
        if !findings.isEmpty { status = .refused }
    }

    private mutating func describe(_ decision: TrustDecision, now: Date, days: Int) {
        if let pin = decision.matchedPin {
            let position = decision.path.firstIndex { $0.publicKeyPin == pin }
            match = "\(pin)"
            let place =
                position.map { $0 == 0 ? "the server's own" : "number \($0) of the path" } ?? "of the path"
            facts.append("matched \(pin), \(place)")
        } else {
            facts.append("no pin was needed: trusted by the anchors")
        }
        if let error = decision.auditedError {
            findings.append(Finding(label: "audit", text: "would be refused if pins were enforced: \(error)"))
        }
        guard let first = decision.path.min(by: { $0.notAfter < $1.notAfter }) else { return }
        expiry = first.notAfter
        let left = Self.days(from: now, to: first.notAfter)
        let text = "\(first.subject) expires in \(Self.count(left)), \(first.notAfter.formatted(.iso8601))"
        if left < days { findings.append(Finding(label: "expiry", text: text)) } else { facts.append(text) }
    }

    private mutating func lookAhead(
        _ policy: SecurityPolicy,
        _ decision: TrustDecision,
        now: Date,
        days: Int,
        wantsBackup: Bool
    ) {
        guard policy.pinningMode != .none else { return }
        if let end = policy.pinExpiration {
            let left = Self.days(from: now, to: end)
            let text =
                end <= now ? "the pins do not count any more" : "the pins count for \(Self.count(left)) only"
            if left < days {
                findings.append(Finding(label: "pinExpiration", text: text))
            } else {
                facts.append(text)
            }
        }
        let inUse = Set(decision.path.map(\.publicKeyPin))
        let pinned = policy.pinnedPublicKeys.union(policy.pinnedCertificates.map(\.publicKeyPin))
        if wantsBackup, pinned.subtracting(inUse).isEmpty {
            let text =
                "there is no backup pin: if this key must go, everybody is locked out (netman backup-key)"
            findings.append(Finding(label: "backup", text: text))
        }
    }

    private static func days(from now: Date, to end: Date) -> Int {
        Int((end.timeIntervalSince(now) / 86_400).rounded(.down))
    }

    private static func count(_ days: Int) -> String { days == 1 ? "1 day" : "\(days) days" }

    func print(on console: Console) {
        let head =
            switch status {
            case .success: Style.green("ok", on: console.output)
            case .failed: Style.yellow("not checked", on: console.output)
            default: Style.red("attention", on: console.output)
            }
        console.print(Style.bold("\(server)", on: console.output) + "  \(head)")
        let width = (console.output.width ?? 10_000) - 4
        for finding in findings {
            for line in lines(finding.text, width) {
                console.print("  " + Style.red("! ", on: console.output) + line)
            }
        }
        for fact in facts {
            for line in lines(fact, width) { console.print("    " + line) }
        }
    }

    private func lines(_ text: String, _ width: Int) -> [String] {
        text.split(separator: "\n").flatMap {
            HelpText.wrapped(Printable.text(String($0)), width: max(20, width))
        }
    }

    var json: JSONValue {
        let word =
            switch status {
            case .success: "ok"
            case .failed: "unreachable"
            default: "attention"
            }
        var object: [String: JSONValue] = [
            "host": JSONValue(server.host), "port": JSONValue(server.port), "status": JSONValue(word),
            "findings": .array(findings.map { ["kind": JSONValue($0.label), "text": JSONValue($0.text)] }),
        ]
        if let match { object["matchedPin"] = JSONValue(match) }
        if let expiry { object["expires"] = JSONValue(expiry.formatted(.iso8601)) }
        return .object(object)
    }
}
