// Shows: server-sent events, as language models and dashboards send them: pieces as they come, and a connection
// that is made again with the last event's id.
import Glibc
import NetManager
import TestServer

@main
struct EventStream {
    static func main() async throws {
        let words = ["Pins", "count", "on", "a", "verified", "path", "only."]
        let server = try TestServer { request in
            // Every connection brings three words; after the last one there is nothing more to come.
            let next = request.headers["Last-Event-ID"].flatMap { Int($0) }.map { $0 + 1 } ?? 0
            guard next < words.count else { return .status(204) }
            var text = "retry: 10\n\n"
            for number in next..<min(next + 3, words.count) {
                text += "id: \(number)\ndata: \(words[number])\n\n"
            }
            return .data(Data(text.utf8), type: "text/event-stream").closing()
        }
        defer { server.stop() }

        // One response, read as it arrives.
        guard let url = URL(string: server.url("/one")) else { exit(1) }
        let first = try await HTTPSessionManager.shared.stream(HTTPRequest(url: url)) { response in
            var text: [String] = []
            for try await event in response.body.events { text.append(event.data) }
            return text
        }
        print("one response: \(first.joined(separator: " "))")

        // All of them, over as many connections as it takes.
        var all: [String] = []
        for try await event in HTTPSessionManager.shared.events(server.url("/all")) {
            print(event.data, terminator: " ")
            all.append(event.data)
        }
        print("(\(server.requests.count - 1) connections)")
        guard first == Array(words.prefix(3)), all == words else { exit(1) }
    }
}
