import FoundationEssentials
import NetManager
import SecurityPolicy
import Serializers

/// Holds a policy file against the servers that it is for.
struct CheckCommand: NetmanCommand {
    let spec = CommandSpec(
        name: "check",
        usage: "POLICY.json [HOST[:PORT] …]",
        summary: "Checks a policy file against the servers that it is for.",
        details: [
            """
            Makes a connection to each HOST under the policy that the file has for it, asks for HEAD /, and says which \
            pin matched, when the certificates expire, and whether a pin is there for the day when the key changes. \
            Without hosts, those that the file names in full are checked, at port 443.
            """,
            """
            For CI and cron the exit status says it all. It is 1 if a server was refused, or \
            would be if pins were enforced; if a certificate or the pins themselves expire within --days; or if no \
            pin is left that the server does not use already. It is 2 if a host could not be reached or the file \
            could not be read, and no other host was refused.
            """,
        ],
        options: [
            .init("days", value: "N", "What expires sooner needs attention; 21 by default."),
            .init("no-backup", "Does not ask for a backup pin."),
            .init("json", "Prints JSON."),
            .init("timeout", value: "SECONDS", "The time for each host; 15 by default."),
        ]
    )

    func run(_ arguments: ParsedArguments, _ console: Console) async throws -> CommandStatus {
        guard let path = arguments.positional.first else {
            throw CommandFailure.usage("check takes a policy file")
        }
        let days = try arguments.value("days").map { text throws(CommandFailure) -> Int in
            guard let days = Int(text), (0...36_500).contains(days) else {
                throw .usage("--days takes a number from 0 to 36500")
            }
            return days
        }
        let policies = try HostPolicies.load(contentsOf: path)
        let timeout = try arguments.seconds("timeout") ?? .seconds(15)
        var hosts: [ServerAddress] = []
        for text in arguments.positional.dropFirst() { hosts.append(try ServerAddress(text)) }
        if hosts.isEmpty {
            let patterns = policies.policies.keys.map(\.description).sorted()
            hosts = patterns.filter { !$0.hasPrefix("*") }.map { ServerAddress(host: $0, port: 443) }
            for pattern in patterns where pattern.hasPrefix("*") {
                console.note("\(pattern) is no single host; name one to check it")
            }
            if hosts.isEmpty {
                throw CommandFailure(message: "\(path) names no host in full; name hosts to check")
            }
        }
        var reports: [HostReport] = []
        for host in hosts {
            let outcome = await HostCheck(policies: policies, timeout: timeout).outcome(of: host)
            let report = HostReport(
                server: host,
                policy: policies.policy(for: host.host),
                outcome: outcome,
                now: .now,
                days: days ?? 21,
                wantsBackup: !arguments.has("no-backup")
            )
            reports.append(report)
            if !arguments.has("json") { report.print(on: console) }
        }
        if arguments.has("json") {
            let list = JSONValue.array(reports.map(\.json))
            let data = try list.data([.sortedKeys, .prettyPrinted])
            console.print(String(decoding: data, as: UTF8.self))
        }
        return Self.status(reports.map(\.status))
    }

    /// A refusal outweighs a host that could not be asked.
    static func status(_ statuses: [CommandStatus]) -> CommandStatus {
        if statuses.contains(.refused) { return .refused }
        return statuses.contains(.failed) ? .failed : .success
    }
}
