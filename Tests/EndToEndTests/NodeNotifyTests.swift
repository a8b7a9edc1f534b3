import Files
import SystemPackage
import TestSupport
import Testing

/// Messages of nodes that share a journal: one of them tells of all.
@Suite(
    .enabled(if: PostgresServer.isPossible && NotifyServer.isPossible, "needs postgresql and python3"),
    .timeLimit(.minutes(10)))
struct NodeNotifyTests: DaemonTests {
    let scratch: ScratchFolder
    private let server: NotifyServer

    init() async throws {
        scratch = try ScratchFolder()
        server = try await NotifyServer()
    }

    private func start(_ name: String, _ place: String, _ more: String = "") async throws -> DropmillProcess {
        let folders = ["inbox: a-in", "processed: a-done", "failed: a-failed"].map {
            $0.replacing(" ", with: " \(scratch.path.string)/")
        }
        try scratch.write(
            folders.joined(separator: "\n") + "\nready: { quiet: 50ms }\nstages: [checksum]\n\(more)",
            to: "\(name)/a.yaml")
        try scratch.write(
            "notify: [{ on: [paused, resumed], to: { ntfy: '\(server.url("/a"))' }, digest: 1s }]\n",
            to: "\(name)/dropmill.yaml")
        let daemon = try DropmillProcess(
            [
                "run", "--journal", place, "--node", name, "--lease", "2s", "--state-dir", "state-\(name)",
                "--log-format", "json", name,
            ], in: scratch.path, log: scratch.path("\(name).log"))
        try #require(await eventually { try daemon.hasLogged("started") }, "\(daemon.transcript)")
        return daemon
    }

    @Test func troubleOfAnyNodeIsToldOnceAndItsEnd() async throws {
        let place = try PostgresServer.shared.get().schema()
        var first = try await start("first", place)
        var second = try await start("second", place, "min_free: 900TiB\n")
        // Room is looked for when there is something to claim, which the first may not.
        #expect(try run("pause", "a", "--node", "first", "--journal", place).status == 0)
        #expect(try await eventually { try first.hasLogged("held") }, "\(first.transcript)")
        try scratch.write("x", to: "a-in/1")
        #expect(try await eventually { try second.hasLogged("paused") }, "\(second.transcript)")
        // A node believes what is there in its first minute only later.
        #expect(try await eventually(within: .seconds(180)) { try !server.requests.isEmpty }, "\(first.transcript)")
        let told = try #require(try server.requests.first)
        #expect(told.headers["title"]?.hasSuffix("a is paused") == true, "\(told)")
        #expect(told.body.contains("On the node 'second': Only "), "\(told)")
        try stop(&second)
        #expect(try await eventually(within: .seconds(90)) { try server.requests.count == 2 }, "\(first.transcript)")
        let end = try #require(try server.requests.last)
        #expect(end.headers["title"]?.hasSuffix("a goes on") == true, "\(end)")
        try stop(&first)
    }
}
