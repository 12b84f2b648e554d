/// Where the policy's verdict is not the one of x509-limbo; docs/conformance.md has the reasons.
struct LimboDeviations {
    /// Should pass, and the standard policy refuses.
    var refused: Set<String> = []
    /// Should be refused, and both policies accept.
    var accepted: Set<String> = []
    /// Should be refused, and only the strict policy does.
    var refusedOnlyByWebPKI: Set<String> = []
    /// Should pass, and the strict policy refuses.
    var refusedByWebPKI: Set<String> = []

    static let kept = LimboDeviations(
        refused: [
            "bettertls::pathbuilding::tc61",
            "bettertls::pathbuilding::tc62",
            "bettertls::pathbuilding::tc63",
            "bettertls::pathbuilding::tc64",
            "bettertls::pathbuilding::tc65",
            "bettertls::pathbuilding::tc66",
            "bettertls::pathbuilding::tc67",
            "bettertls::pathbuilding::tc68",
            "cve::cve-2024-0567",
            "pathlen::validation-ignores-pathlen-in-leaf",
            "rfc5280::ca-as-leaf",
            "rfc5280::root-and-intermediate-swapped",
            "rfc5280::validity::notafter-exact",
            "rfc5280::validity::notafter-fractional",
        ],
        accepted: ["rfc5280::nc::permitted-dns-match-noncritical"],
        refusedOnlyByWebPKI: [
            "crl::crlnumber-missing",
            "rfc5280::aki::intermediate-missing-aki",
            "rfc5280::aki::leaf-missing-aki",
            "rfc5280::leaf-ku-keycertsign",
            "rfc5280::nc::invalid-dnsname-leading-period",
            "rfc5280::pc::ica-noncritical-pc",
            "rfc5280::root-missing-basic-constraints",
            "rfc5280::root-non-critical-basic-constraints",
            "rfc5280::san::noncritical-with-empty-subject",
            "rfc5280::san::underscore-dns",
            "rfc5280::serial::too-long",
            "rfc5280::serial::zero",
            "rfc5280::ski::intermediate-missing-ski",
            "rfc5280::ski::root-missing-ski",
            "webpki::aki::root-with-aki-missing-keyidentifier",
            "webpki::cn::case-mismatch",
            "webpki::cn::ipv4-hex-mismatch",
            "webpki::cn::ipv4-leading-zeros-mismatch",
            "webpki::cn::ipv6-non-rfc5952-mismatch",
            "webpki::cn::ipv6-uncompressed-mismatch",
            "webpki::cn::ipv6-uppercase-mismatch",
            "webpki::cn::not-in-san",
            "webpki::cn::punycode-not-in-san",
            "webpki::cn::utf8-vs-punycode-mismatch",
            "webpki::ee-basicconstraints-ca",
            "webpki::eku::ee-anyeku",
            "webpki::eku::ee-critical-eku",
            "webpki::eku::ee-without-eku",
            "webpki::eku::root-has-eku",
            "webpki::forbidden-rsa-key-not-divisible-by-8-in-leaf",
            "webpki::forbidden-rsa-not-divisible-by-8-in-root",
            "webpki::malformed-aia",
            "webpki::san::public-suffix-multi-label-wildcard-san",
            "webpki::san::public-suffix-private-namespace-wildcard-san",
            "webpki::san::san-critical-with-nonempty-subject",
        ],
        refusedByWebPKI: Set([
            "crl::issuer-no-keyusage-extension",
            "rfc5280::eku::ee-without-eku",
            "rfc5280::nc::permitted-dn-match",
            "rfc5280::nc::permitted-dns-match-more",
            "rfc5280::nc::permitted-ipv4-match",
            "rfc5280::nc::permitted-ipv6-match",
            "webpki::nc::nc-permits-dns-san-pattern",
            "webpki::san::exact-localhost-ip-san",
            "webpki::san::leftmost-wildcard-san",
        ]).union(betterTLS)
    )

    /// Their leaves have the common name "EE" and other alternative names.
    private static let betterTLS = ([0, 1, 2, 9] + Array(16...35) + Array(48...60)).map {
        "bettertls::pathbuilding::tc\($0)"
    }
}
