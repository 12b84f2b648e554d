import FoundationEssentials
import HTTPMessage
import Serializers
import Testing

@testable import NetmanCommands

@Suite struct CommandLineTests {
    @Test func `every command has help that fits 80 columns and names its exit statuses`() async {
        for command in Netman.all.map(\.spec) {
            let run = await NetmanRun([command.name, "--help"])
            #expect(run.status == 0)
            #expect(run.lines.first == "usage: netman \(command.name) \(command.usage)")
            #expect(run.lines.allSatisfy { $0.count <= 80 }, "\(command.name)")
            #expect(run.text.contains("Exit status:\n  0"))
            for option in command.options { #expect(run.text.contains("--\(option.name)")) }
        }
    }

    @Test func `the overview names every command`() async {
        for arguments in [["--help"], ["-h"], ["help"]] {
            let run = await NetmanRun(arguments)
            #expect(run.status == 0)
            #expect(run.lines.allSatisfy { $0.count <= 80 })
            for command in Netman.all { #expect(run.text.contains("\n  \(command.spec.name) ")) }
        }
        #expect(await NetmanRun([]).status == 2)
    }

    @Test(arguments: [
        ["nonsense"], ["pins"], ["pins", "a", "b"], ["pins", "a", "--nonsense"], ["pins", "a", "-f"],
        ["pins", "a", "-f", "pdf"], ["pins", "a", "--timeout", "0"], ["pins", "a", "--expect", "sha1/x"],
        ["convert", "a"],
        ["check"], ["check", "x.json", "--days", "-1"], ["get"], ["get", "ftp://h/"], ["get", "h", "item"],
        ["get", "h", "--pin", "x"], ["get", "h", "--allow-invalid"],
        ["get", "h", "--signature", "a", "--policy", "b"],
        ["post", "h", "--form", "--multipart"], ["get", "h", "a@b"], ["post", "h", "@a", "b=c"],
        ["post", "h", "a:={"], ["post", "h", "@a", "@b"], ["post", "h", "=x"], ["get", "h", "-Z"],
        ["backup-key"], ["backup-key", "a", "b"], ["backup-key", "a", "--type", "dsa"],
        ["convert", "a", "b", "--to", "pdf"],
        ["pins", "--format=table", "--format=json", "a"], ["get", "h", "--explain=yes"],
    ])
    func `wrong usage is exit status 2 and says what to do`(arguments: [String]) async {
        let run = await NetmanRun(arguments)
        #expect(run.status == 2)
        #expect(run.output.isEmpty)
        #expect(run.errors.contains("netman"))
    }

    @Test func `options are read in every spelling`() throws {
        let spec = PinsCommand().spec
        for arguments in [
            ["-fjson", "h"], ["-f", "json", "h"], ["--format=json", "h"], ["h", "--format", "json"],
        ] {
            let parsed = try spec.parse(arguments)
            #expect(parsed.value("format") == "json")
            #expect(parsed.positional == ["h"])
        }
        #expect(try spec.parse(["--", "-h"]).positional == ["-h"])
        #expect(try spec.parse(["--expect", "a", "--expect=b"]).all("expect") == ["a", "b"])
    }

    @Test(arguments: [
        ("Name:value", RequestItem.header(name: "Name", value: "value")),
        ("Name:", .header(name: "Name", value: "")),
        ("a=b=c", .text(name: "a", value: "b=c")), ("a==b", .query(name: "a", value: "b")),
        ("a:=[1]", .json(name: "a", text: "[1]")), ("a@b", .file(name: "a", path: "b")),
        ("@b", .body(path: "b")),
        ("a\\:b=c", .text(name: "a:b", value: "c")), ("a=http://x", .text(name: "a", value: "http://x")),
        ("a:b@c", .header(name: "a", value: "b@c")), ("mail=a@b", .text(name: "mail", value: "a@b")),
    ])
    func `items are read as HTTPie reads them`(word: String, item: RequestItem) throws {
        #expect(try RequestItem(word) == item)
    }

    @Test(arguments: [
        ("example.com", "https://example.com"), (":8080/a", "http://localhost:8080/a"),
        (":/a", "http://localhost/a"),
        ("http://h/a", "http://h/a"), ("HTTPS://h", "HTTPS://h"), ("h:1/a", "https://h:1/a"),
    ])
    func `a URL without a scheme is https, and a bare port is localhost`(target: String, url: String) {
        #expect(RequestPlan.url(target)?.absoluteString == url)
    }

    @Test(arguments: ["ftp://h", "file:///etc/passwd", "", "https://", "://"])
    func `other schemes are refused`(target: String) {
        #expect(RequestPlan.url(target) == nil)
    }

    @Test func `a name that is given twice makes a list`() throws {
        let items = try ["a=1", "a=2", "b:=null"].map { try RequestItem($0) }
        let plan = try RequestPlan(method: .post, target: "h", items: items)
        guard case .data(let data) = plan.request.body?.storage else {
            throw CommandFailure(message: "no body")
        }
        #expect(try JSONValue(parsing: data) == ["a": ["1", "2"], "b": nil])
    }

    @Test func `an empty field is left out`() throws {
        let items = [try RequestItem("Accept:")]
        let plan = try RequestPlan(method: .get, target: "h", items: items, baseHeaders: ["Accept": "*/*"])
        #expect(plan.request.headers["Accept"] == nil)
    }

    @Test func `control characters reach no terminal`() {
        #expect(Printable.text("a\u{1B}[31mb\u{9B}c\u{7F}\u{202E}") == "a\\x1B[31mb\\x9Bc\\x7F\\x202E")
        #expect(Printable.text("tab\t, line\n, 中文, é") == "tab\t, line\n, 中文, é")
        #expect(
            Printable.text("\u{1B}[1mx\u{1B}[0m\u{1B}[2J", keeping: true) == "\u{1B}[1mx\u{1B}[0m\\x1B[2J"
        )
    }
}
