import FoundationEssentials
import Glibc
import TestPKI

/// The files of an ``NginxPeer``.
struct NginxConfiguration {
    let options: NginxPeer.Options
    let directory: String
    let port: Int

    func write() throws {
        let files = try options.identity.writePEM(to: directory)
        let root = directory + "/root"
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
        for (name, bytes) in options.files { try bytes.write(to: URL(filePath: "\(root)/\(name)")) }
        try options.clientAuthority?.writePEM(to: directory + "/clients.pem")
        try options.stapledOCSPResponse?.write(to: URL(filePath: directory + "/ocsp.der"))
        try Data(text(files).utf8).write(to: URL(filePath: directory + "/nginx.conf"))
    }

    private func text(_ files: Identity.Files) -> String {
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map { "\($0)_temp_path \(directory)/\($0);" }
            .joined(separator: "\n")
        let clients =
            options.clientAuthority == nil
            ? "" : "ssl_client_certificate \(directory)/clients.pem; ssl_verify_client on;"
        let stapling =
            options.stapledOCSPResponse == nil
            ? "" : "ssl_stapling on; ssl_stapling_file \(directory)/ocsp.der;"
        // In the foreground, so that its number is known. A master, though one process would do: without it
        // nginx 1.22 crashes on an inherited socket. The worker must be able to read the directory.
        let user = geteuid() == 0 ? "user root;" : ""
        return """
            daemon off;
            worker_processes 1;
            \(user)
            pid \(directory)/nginx.pid;
            events { worker_connections 4096; }
            http {
                log_format tests '\(NginxLog.format)';
                access_log \(directory)/access.fifo tests;
                \(temporary)
                ssl_session_cache shared:tests:1m;
                server {
                    listen 127.0.0.1:\(port) ssl \(options.http2 ? "http2" : "");
                    ssl_certificate \(files.chain);
                    ssl_certificate_key \(files.key);
                    ssl_protocols \(options.protocols.joined(separator: " "));
                    \(clients)
                    \(stapling)
                    \(options.directives)
                    client_max_body_size 0;
                    root \(directory)/root;
                    location / { try_files $uri @hello; }
                    location @hello { default_type text/plain; return 200 'hello'; }
                }
            }

            """
    }
}
