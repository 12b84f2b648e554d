import CCurl
import CCurlShims
import Dispatch

/// Gets Kerberos tickets for servers before libcurl needs them.
///
/// libcurl asks the Kerberos library in the middle of a request, and that asks the KDC and waits for it: one that is silent
/// held the engine's one thread, and every request with it, for twenty-five seconds a time. So the ticket is got on another
/// thread, while the request waits here; libcurl then finds it where the library keeps what the process has. Confined to
/// the engine's thread.
final class ServiceTickets {
    /// A server, or a proxy, that a request may have to prove its user to.
    struct Service: Hashable {
        var host: String
        var isProxy: Bool
    }

    /// The most tickets that are got at a time: each has a thread of Dispatch's, which others need too, for as long as the
    /// KDC is silent and whoever has left meanwhile.
    static let limit = 8

    /// Who waits for the ticket of a host, for as long as somebody asks for it or may not ask yet.
    private var waiting: [String: [TransferID]] = [:]
    /// The hosts whose tickets are asked for.
    private var asked: Set<String> = []
    /// The hosts whose turn has not come, in the order in which they came.
    private var queue: [String] = []
    private let ask: (String) -> Void

    /// - Parameter ask: Asks for the ticket of a host and does not wait for it; ``settle(_:)`` follows once.
    init(ask: @escaping (String) -> Void) {
        self.ask = ask
    }

    convenience init(engine: Engine) {
        self.init { host in
            // Nobody may wait for a KDC: neither the engine's end nor the process's.
            DispatchQueue.global().async { [weak engine] in
                let isThere = nm_get_service_ticket("HTTP@\(host)") != 0
                engine?.post(ifRunning: .ticket(host, isThere))
            }
        }
    }

    /// Asks for a transfer; transfers to one host share the question.
    func get(_ host: String, for id: TransferID) {
        guard waiting[host] == nil else {
            waiting[host]?.append(id)
            return
        }
        waiting[host] = [id]
        queue.append(host)
        askNext()
    }

    private func askNext() {
        while asked.count < Self.limit, !queue.isEmpty {
            let host = queue.removeFirst()
            asked.insert(host)
            ask(host)
        }
    }

    /// A transfer ends before there is an answer.
    func leave(_ id: TransferID) {
        for (host, ids) in waiting where ids.contains(id) {
            let others = ids.filter { $0 != id }
            waiting[host] = others
            guard others.isEmpty, !asked.contains(host) else { continue }
            // Nobody needs to know any more.
            waiting[host] = nil
            queue.removeAll { $0 == host }
        }
    }

    /// There is an answer, which lets another host have its turn.
    /// - Returns: Who waits for it.
    func settle(_ host: String) -> [TransferID] {
        guard asked.remove(host) != nil else { return [] }
        let ids = waiting.removeValue(forKey: host) ?? []
        askNext()
        return ids
    }
}

extension Transfer {
    /// The tickets that libcurl will look for.
    func neededTickets(for handle: EasyHandle) -> [ServiceTickets.Service] {
        guard handle.applied.hasOwnConnection else { return [] }
        var services: [ServiceTickets.Service] = []
        func add(_ host: String, _ schemes: Authentication.Schemes?, isProxy: Bool) {
            // libcurl writes other names in another way, and asks for itself.
            guard schemes?.contains(.negotiate) == true, host.utf8.allSatisfy({ $0 < 0x80 }) else { return }
            let name = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
            services.append(.init(host: name, isProxy: isProxy))
        }
        add(handle.applied.host, plan.context.authentication?.schemes, isProxy: false)
        add(proxy.host, proxy.credentials?.schemes, isProxy: true)
        return services
    }
}

extension EventLoop {
    /// Lets a transfer wait for a ticket.
    func getTicket(for service: ServiceTickets.Service, _ transfer: Transfer) {
        transfer.place = .atTickets
        // Only the time of the whole call counts meanwhile.
        transfer.clock.hold()
        tickets.get(service.host, for: transfer.id)
    }

    /// Lets those go on that have waited for a ticket; without one they do without Negotiate, and the server will say what
    /// it thinks of that.
    func settleTicket(of host: String, isThere: Bool) {
        for id in tickets.settle(host) {
            guard let transfer = transfers[id], transfer.place == .atTickets else { continue }
            guard let service = transfer.missingTickets.popLast() else { continue }
            transfer.clock.enter(.queue, now: MonotonicClock.nanoseconds)
            if !isThere {
                do throws(TransferFailure) {
                    try transfer.handle?.leaveOutNegotiate(transfer.plan, isForProxy: service.isProxy)
                } catch {
                    end(id, because: error)
                    continue
                }
            }
            if transfer.isPaused {
                transfer.place = .parked
            } else {
                goOn(transfer, enter)
            }
        }
    }
}

extension EasyHandle {
    /// Keeps libcurl from Negotiate, for which there is no ticket: it would ask the KDC for one again, and wait for it.
    func leaveOutNegotiate(_ plan: TransferPlan, isForProxy: Bool) throws(TransferFailure) {
        // The next request has other settings, whatever it says.
        let proxy = applied.proxy
        applied.settings = nil
        if isForProxy {
            applied.proxy = nil
            let rest = (proxy?.credentials?.schemes ?? []).subtracting(.negotiate)
            if rest.isEmpty {
                try set(CURLOPT_PROXYUSERNAME, nil)
                try set(CURLOPT_PROXYPASSWORD, nil)
            }
            try set(CURLOPT_PROXYAUTH, Self.bits(of: rest))
        } else {
            applied.authentication = nil
            var rest = plan.context.authentication
            rest?.schemes.subtract(.negotiate)
            if rest?.schemes.isEmpty == true { rest = nil }
            try apply(rest)
            applied.authentication = .some(rest)
        }
    }
}
