import COpenSSL
import FoundationEssentials

/// Lists the paths that could lead from a server's certificate to an anchor, by names and signatures.
///
/// OpenSSL follows one path and does not go back when it ends badly, as it does with cross-signed authorities of
/// which one is expired or constrained. These candidates are then verified by OpenSSL one by one.
struct PathSearch {
    /// Each candidate costs one verification.
    private static let mostCandidates = 16
    /// A signature costs up to 0.1 ms, and the server chooses how many certificates look alike.
    private static let mostSignatures = 64
    /// Steps of the search, which certificates that certify each other would make exponential.
    private static let mostSteps = 1_000
    /// Certificates between leaf and anchor, as for OpenSSL.
    private let depth: Int

    private let certificates: [Certificate]
    private let anchors: [Certificate]
    private let partial: Bool
    private var candidates: [[Certificate]] = []
    /// The issuers of a certificate are looked up once, however many paths lead through it.
    private var issuers: [Certificate: (anchors: [Certificate], sent: [Certificate])] = [:]
    private var signatures = 0
    private var steps = 0

    /// Every candidate within the limits, those with an anchor close to the leaf first among their siblings.
    ///
    /// - Parameters:
    ///   - certificates: as sent, leaf first.
    ///   - anchors: where a path may end.
    ///   - partial: whether it may end at an anchor that is not self-signed.
    ///   - depth: the most certificates between leaf and anchor.
    /// - Returns: paths whose links are signed, leaf first, anchor last.
    static func candidates(
        _ certificates: [Certificate],
        to anchors: [Certificate],
        partial: Bool,
        depth: Int
    ) -> [[Certificate]] {
        guard let leaf = certificates.first else { return [] }
        var search = PathSearch(certificates, to: anchors, partial: partial, depth: depth)
        search.extend([leaf])
        return search.candidates
    }

    private init(_ certificates: [Certificate], to anchors: [Certificate], partial: Bool, depth: Int) {
        var seen: Set<Certificate> = []
        self.certificates = certificates.filter { seen.insert($0).inserted }
        self.anchors = anchors
        self.partial = partial
        self.depth = depth
    }

    private mutating func extend(_ path: [Certificate]) {
        steps += 1
        guard let end = path.last, steps <= PathSearch.mostSteps else { return }
        if anchors.contains(end), partial || X509_self_signed(end.record.x509, 0) == 1 {
            add(path)
            return
        }
        let issuers = issuers(of: end)
        for anchor in issuers.anchors where !path.contains(anchor) { add(path + [anchor]) }
        guard path.count <= depth else { return }
        for next in issuers.sent where !path.contains(next) { extend(path + [next]) }
    }

    private mutating func add(_ path: [Certificate]) {
        guard candidates.count < PathSearch.mostCandidates else { return }
        candidates.append(path)
    }

    private mutating func issuers(of subject: Certificate) -> (anchors: [Certificate], sent: [Certificate]) {
        if let known = issuers[subject] { return known }
        let found = (
            anchors.filter { isIssued(subject, by: $0) }, certificates.filter { isIssued(subject, by: $0) }
        )
        issuers[subject] = found
        return found
    }

    private mutating func isIssued(_ subject: Certificate, by issuer: Certificate) -> Bool {
        guard X509_check_issued(issuer.record.x509, subject.record.x509) == X509_V_OK else { return false }
        guard signatures < PathSearch.mostSignatures else { return false }
        signatures += 1
        return X509_verify(subject.record.x509, X509_get0_pubkey(issuer.record.x509)) == 1
    }
}
