// swift-tools-version: 6.2
import PackageDescription

// Never enable library evolution: a module that holds a type of its own name (SecurityPolicy) yields an
// interface file that does not compile.

/// Every Swift target is built with these; a warning anywhere stops the build.
let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

let strictC: [CSetting] = [.enableWarning("all"), .enableWarning("extra"), .treatAllWarnings(as: .error)]

let package = Package(
    name: "NetManager",
    products: [
        .library(
            name: "NetManager",
            targets: ["NetManager", "Serializers", "SecurityPolicy", "HTTPMessage"]
        ),
        .library(name: "NetManagerFoundation", targets: ["NetManagerFoundation"]),
        .library(name: "Reachability", targets: ["Reachability"]),
        .library(name: "NetManagerTesting", targets: ["NetManagerTesting", "TestServer", "TestPKI"]),
        .executable(name: "netman", targets: ["netman"]),
    ],
    targets: [
        // C libraries of the system: module maps only.
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CLinux"),
        .systemLibrary(name: "CIconv"),
        // What Swift cannot call: variadic functions and function-like macros.
        .target(name: "CCurlShims", dependencies: ["CCurl"], cSettings: strictC),
        .target(name: "COpenSSLShims", dependencies: ["COpenSSL"], cSettings: strictC),
        .target(name: "CZlibShims", dependencies: ["CZlib"], cSettings: strictC),

        // What the thread sanitizer cannot see.
        .target(name: "CThreadSanitizer", cSettings: strictC),

        // The one lock.
        .target(name: "Locks", swiftSettings: strict),
        // Values: no I/O, no threads.
        .target(name: "HTTPMessage", swiftSettings: strict),
        .target(
            name: "SecurityPolicy",
            dependencies: ["COpenSSL", "COpenSSLShims", "Locks"],
            swiftSettings: strict
        ),
        .target(
            name: "Serializers",
            dependencies: ["HTTPMessage", "Locks", "CZlib", "CZlibShims", "CIconv"],
            swiftSettings: strict
        ),
        // The manager and its libcurl engine.
        .target(
            name: "NetManager",
            dependencies: [
                "HTTPMessage", "SecurityPolicy", "Serializers", "Locks",
                "CCurl", "CCurlShims", "COpenSSL", "COpenSSLShims", "CLinux", "CThreadSanitizer",
            ],
            swiftSettings: strict
        ),
        // Whether there is a way to other networks, by the kernel's tables.
        .target(name: "Reachability", dependencies: ["Locks"], swiftSettings: strict),
        // Bridges to Foundation's classes, for those who want them.
        .target(
            name: "NetManagerFoundation",
            dependencies: ["NetManager", "HTTPMessage", "SecurityPolicy", "Serializers"],
            swiftSettings: strict
        ),

        // The command-line companion: its commands, and the program around them.
        .target(
            name: "NetmanCommands",
            dependencies: [
                "NetManager", "HTTPMessage", "SecurityPolicy", "Serializers", "Locks", "COpenSSL",
                "COpenSSLShims",
            ],
            swiftSettings: strict
        ),
        .executableTarget(name: "netman", dependencies: ["NetmanCommands"], swiftSettings: strict),

        // Servers and certificates made on the spot: for tests, samples and benchmarks.
        .target(
            name: "TestPKI",
            dependencies: ["COpenSSL", "COpenSSLShims"],
            path: "Tests/TestPKI",
            swiftSettings: strict
        ),
        .target(
            name: "ChildProcess",
            dependencies: ["Locks"],
            path: "Tests/ChildProcess",
            swiftSettings: strict
        ),
        .target(
            name: "TestServer",
            dependencies: [
                "HTTPMessage", "TestPKI", "ChildProcess", "Locks", "CLinux", "COpenSSL", "COpenSSLShims",
            ],
            path: "Tests/TestServer",
            swiftSettings: strict
        ),
        // Reads test data that is not part of the package, where it is.
        .target(
            name: "Conformance",
            dependencies: ["SecurityPolicy", "ChildProcess"],
            path: "Tests/Conformance",
            swiftSettings: strict
        ),

        // How forms show values, for the tests of two modules.
        .target(
            name: "FormValues",
            dependencies: ["Serializers"],
            path: "Tests/FormValues",
            swiftSettings: strict
        ),

        // Random numbers that can be had again, for the tests of two modules.
        .target(name: "SeededRandom", path: "Tests/SeededRandom", swiftSettings: strict),

        // For the tests of programs that use the library: all of the above, recordings of exchanges.
        .target(
            name: "NetManagerTesting",
            dependencies: ["NetManager", "HTTPMessage", "Serializers", "Locks", "TestServer", "TestPKI"],
            swiftSettings: strict
        ),

        // Programs to read and to try; nobody who depends on the package builds them.
        .executableTarget(
            name: "QuickStart",
            dependencies: ["NetManager", "SecurityPolicy", "TestServer", "TestPKI"],
            path: "Samples/QuickStart",
            swiftSettings: strict
        ),
        .executableTarget(
            name: "AKStyle",
            dependencies: ["NetManager", "SecurityPolicy", "TestServer", "TestPKI"],
            path: "Samples/AKStyle",
            swiftSettings: strict
        ),
        .executableTarget(
            name: "Interceptor",
            dependencies: ["NetManager", "SecurityPolicy", "TestServer", "TestPKI"],
            path: "Samples/Interceptor",
            swiftSettings: strict
        ),
        .executableTarget(
            name: "PolicyOnly",
            dependencies: ["SecurityPolicy", "TestPKI"],
            path: "Samples/PolicyOnly",
            swiftSettings: strict
        ),

        // Programs for scripts/bench: the floor in C, this library, URLSession, the pieces one by one.
        .executableTarget(
            name: "BenchmarkFloor",
            dependencies: ["CCurl", "COpenSSL"],
            path: "Benchmarks/Floor",
            cSettings: strictC
        ),
        .executableTarget(name: "BenchmarkPeer", path: "Benchmarks/Peer", cSettings: strictC),
        .target(name: "BenchmarkSupport", path: "Benchmarks/Support", swiftSettings: strict),
        .executableTarget(
            name: "BenchmarkClient",
            dependencies: ["NetManager", "BenchmarkSupport"],
            path: "Benchmarks/Client",
            swiftSettings: strict
        ),
        .executableTarget(
            name: "BenchmarkMicro",
            dependencies: ["NetManager", "HTTPMessage", "BenchmarkSupport"],
            path: "Benchmarks/Micro",
            swiftSettings: strict
        ),
        // What is counted by scripts/guard: allocations and instructions.
        .target(name: "AllocationCounter", path: "Benchmarks/AllocationCounter", cSettings: strictC),
        .executableTarget(
            name: "BenchmarkGuard",
            dependencies: [
                "NetManager", "HTTPMessage", "SecurityPolicy", "BenchmarkSupport", "AllocationCounter",
            ],
            path: "Benchmarks/Guard",
            swiftSettings: strict
        ),
        .executableTarget(
            name: "BenchmarkFoundation",
            dependencies: ["BenchmarkSupport"],
            path: "Benchmarks/Foundation",
            swiftSettings: strict
        ),

        .testTarget(
            name: "TestServerTests",
            dependencies: [
                "TestServer", "TestPKI", "HTTPMessage", "ChildProcess", "COpenSSL", "COpenSSLShims",
            ],
            swiftSettings: strict
        ),
        // What the thread sanitizer is told about the Swift runtime, how many tests run at a time, and fork(2).
        .target(name: "TestSupport", path: "Tests/TestSupport", cSettings: strictC),
        // A look-up of a name that does not end.
        .target(name: "SlowResolver", path: "Tests/SlowResolver", cSettings: strictC),
        // Run by the tests: exits while transfers run, and what else needs a process of its own.
        .executableTarget(
            name: "ExitProbe",
            dependencies: ["NetManager", "COpenSSL", "SlowResolver"],
            path: "Tests/ExitProbe",
            swiftSettings: strict
        ),
        // Run by the tests: a client alone in its process, whose memory is measured.
        .executableTarget(
            name: "LoadProbe",
            dependencies: ["NetManager"],
            path: "Tests/LoadProbe",
            swiftSettings: strict
        ),

        .testTarget(name: "HTTPMessageTests", dependencies: ["HTTPMessage"], swiftSettings: strict),
        .testTarget(
            name: "SecurityPolicyTests",
            dependencies: ["SecurityPolicy", "TestPKI", "Conformance", "ChildProcess"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "SerializersTests",
            dependencies: ["Serializers", "HTTPMessage", "CZlib", "FormValues", "SeededRandom"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "ReachabilityTests",
            dependencies: ["Reachability", "ChildProcess", "Locks"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "NetmanCommandsTests",
            dependencies: [
                "NetmanCommands", "HTTPMessage", "SecurityPolicy", "Serializers", "NetManager", "TestServer",
                "TestPKI", "ChildProcess", "Locks", "netman",
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "NetManagerFoundationTests",
            dependencies: ["NetManagerFoundation", "SecurityPolicy", "TestServer", "TestPKI"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "NetManagerTestingTests",
            dependencies: ["NetManagerTesting", "HTTPMessage"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "NetManagerTests",
            dependencies: [
                "NetManager", "HTTPMessage", "SecurityPolicy", "Serializers", "TestServer", "TestPKI",
                "Locks", "ChildProcess", "CLinux", "COpenSSL", "CCurlShims",
                "Conformance", "ExitProbe", "FormValues", "LoadProbe", "SeededRandom", "TestSupport",
            ],
            swiftSettings: strict
        ),
    ],
    swiftLanguageModes: [.v6]
)

/// Samples that show one subject each: a program of one file, with servers of its own.
let samples = [
    "EventStream", "MutualTLS", "Pinning", "PolicyTest", "ResumableDownload", "Retries", "Rotation",
    "StubInTests",
    "ThroughProxy", "TokenRefresh", "Upload",
]
for name in samples {
    package.targets.append(
        .executableTarget(
            name: name,
            dependencies: ["NetManager", "SecurityPolicy", "TestServer", "TestPKI"],
            path: "Samples/\(name)",
            swiftSettings: strict
        )
    )
}
