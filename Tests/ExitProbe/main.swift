// Exits in the middle of TLS transfers: run by the tests, hundreds of times, to show that no exit crashes.
// Arguments: the server's URL, and optionally a file with its certificate; then OpenSSL is initialized as another
// library would do it, before it can be asked not to clean up at exit. The words "descriptors", "resolver", "silence" and
// "fork" in its place try other things (DescriptorProbe, ResolverProbe, ForkProbe); and the word "negotiate" in the URL's
// place those that follow it (NegotiateProbe).
import COpenSSL
import Glibc
import NetManager
import Synchronization

let arguments = CommandLine.arguments
if arguments.dropFirst().first == "negotiate" {
    exit(await NegotiateProbe.run(Array(arguments.dropFirst(2))))
}
guard arguments.count >= 2, let url = URL(string: arguments[1]) else { exit(2) }
if arguments.count == 3, arguments[2] == "descriptors" { exit(await DescriptorProbe.run(url)) }
if arguments.count == 3, arguments[2] == "fork" { exit(await ForkProbe.run(url)) }
if arguments.count == 3, arguments[2] == "resolver" { exit(await ResolverProbe.run(url)) }
if arguments.count == 3, arguments[2] == "silence" { exit(await ResolverProbe.runMany(url)) }
var policy = SecurityPolicy(allowInvalidCertificates: true, validatesDomainName: false)
if arguments.count > 2 {
    OPENSSL_init_crypto(0, nil)
    policy = SecurityPolicy(
        pinningMode: .certificate,
        pinnedCertificates: Set(try Certificate.load(contentsOf: arguments[2])),
        allowInvalidCertificates: true
    )
}

let transport = CurlTransport()
let context = TransportContext(policy: policy)
// Each connection is used once, so that handshakes are under way all the time.
let request = HTTPRequest(url: url, headers: ["Connection": "close"])
let (answers, source) = AsyncStream<Void>.makeStream()
for _ in 0..<8 {
    Task {
        while true {
            _ = try await transport.send(request, context: context).body.collect()
            source.yield()
        }
    }
}
var count = 0
for await _ in answers {
    count += 1
    if count == 4 { exit(0) }
}
