import Files
import FoundationEssentials
import Glibc
import SystemPackage
import TestSupport
import Testing

/// What a real daemon tells of a pipeline's file, and that no secret of it is seen.
@Suite(.timeLimit(.minutes(5))) struct FileVerbTests: DaemonTests {
    let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private static let stages = """
        [run: { command: [sh, -c, "echo $KEY >&2; exit 3"], env: { KEY: s3cr3t-written } },
          http: { url: "http://anna:s3cr3t@127.0.0.1:1/{name}", headers: { A: "Bearer s3cr3t-token" } }] # s3cr3t
        """

    private struct Reply: Decodable {
        struct Answer: Decodable { var file: File? }
        struct File: Decodable {
            var disk: String
            var reason: String?
            var lines: [Line]
        }
        struct Line: Decodable {
            var text: String
            var only: String?
        }

        var answer: Answer
    }

    private func file(_ pipeline: String) throws -> Reply.File? {
        let socket = try RawExchange(scratch.path(".dropmill-state/control.sock"))
        let request = #"{"version":2,"id":1,"verb":"file","arguments":{"pipeline":"\#(pipeline)"}}"# + "\n"
        socket.send(Array(request.utf8))
        let line = socket.receive(until: "\n")
        #expect(!line.contains("s3cr3t"), "\(line)")
        return try JSONDecoder().decode(Reply.self, from: Data(line.utf8)).answer.file
    }

    @Test func aFileIsToldWithoutItsSecrets() async throws {
        try write("a", stages: Self.stages)
        var daemon = try await start()
        let loaded = try #require(try file("a"))
        #expect(loaded.disk == "same" && loaded.lines.allSatisfy { $0.only == nil })
        #expect(loaded.lines.contains { $0.text.hasSuffix("env: { KEY: ••• } },") })
        #expect(loaded.lines.last?.text.hasSuffix(#"{name}", headers: { A: ••• } }] # •••"#) == true)
        #expect(try file("b") == nil)

        try write("a", stages: Self.stages.replacing("exit 3", with: "exit 4"))
        let changed = try #require(try file("a"))
        #expect(changed.disk == "changed" && changed.lines.compactMap(\.only) == ["loaded", "disk"])
        try write("a", stages: "[run: { env: { KEY: 's3cr3t-written }")
        let broken = try #require(try file("a"))
        #expect(broken.disk == "unreadable" && broken.lines.count == loaded.lines.count)
        // Nor by what a reload says.
        let refused = try run("reload")
        #expect(refused.status != 0 && !refused.text.contains("s3cr3t"), "\(refused.text)")
        try write("a", stages: Self.stages.replacing("exit 3", with: "exit 4"))
        #expect(try run("reload").status == 0)
        #expect(try file("a")?.disk == "same")

        // A program's last lines neither.
        try scratch.write("x", to: "pipelines/a-in/x")
        #expect(await eventually { scratch.exists("pipelines/a-failed/x.error.json") })
        let story = try run("show", "x")
        #expect(story.text.contains("status 4") && story.text.contains("•••"), "\(story.text)")
        #expect(!story.text.contains("s3cr3t"))
        try stop(&daemon)
        #expect(!daemon.transcript.contains("s3cr3t"))
    }
}
