import Glibc

extension ChildProcess {
    /// The path of a program of this package, which lies beside the one that runs the tests; nil when it is not built.
    public static func built(_ name: String) -> String? {
        // The runner's own path is the toolchain's when tests are run through it; one of its arguments is the build's.
        let own = realpath("/proc/self/exe", nil)
        defer { free(own) }
        for runner in [own.map { String(cString: $0) }].compactMap(\.self) + CommandLine.arguments {
            guard let slash = runner.lastIndex(of: "/") else { continue }
            let path = String(runner[...slash]) + name
            if access(path, X_OK) == 0 { return path }
        }
        return nil
    }
}
