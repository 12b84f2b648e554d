// One import gives a test everything: the manager with its StubTransport, servers and certificates made on the spot.
@_exported public import NetManager
@_exported public import TestPKI
@_exported public import TestServer
