import Files
import Glibc
import PipelineKit
import SystemPackage
import TestSupport
import Testing

/// Daemons that share an inbox and a journal: what becomes of the jobs of one that dies, sleeps or loses its database.
@Suite(.enabled(if: PostgresServer.isPossible, "needs postgresql"), .timeLimit(.minutes(5)))
struct NodeTests: DaemonTests {
    let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private func start(_ name: String, _ place: String, _ pipelines: String...) async throws -> DropmillProcess {
        let daemon = try DropmillProcess(
            [
                "run", "--journal", place, "--node", name, "--lease", "2s", "--state-dir", "state-\(name)",
                "--log-format", "json",
            ] + pipelines, in: scratch.path, log: scratch.path("\(name).log"))
        try #require(await eventually { try daemon.hasLogged("started") }, "\(daemon.transcript)")
        return daemon
    }

    /// Its stage lasts as long as there is a gate, and says which processes were in it.
    private func writeGated(stages: String = "[GATED, checksum]", _ more: String = "") throws {
        let gate = scratch.path("gate").string
        try scratch.write("", to: "gate")
        let script = "echo $$ >> \(scratch.path("seen").string); while [ -e \(gate) ]; do sleep 0.05; done"
        let stage = "run: { command: [sh, -c, \"\(script)\"], workers: 2 }"
        try write("a", stages: stages.replacing("GATED", with: stage), more)
    }

    private func drop(_ names: String...) throws {
        for name in names { try scratch.write("content of \(name)", to: "pipelines/a-in/\(name)") }
    }

    private func done(_ name: String) -> Bool { scratch.exists("pipelines/a-done/\(name)") }

    private func seen() throws -> [Int32] {
        guard scratch.exists("seen") else { return [] }
        return try scratch.text("seen").split(separator: "\n").compactMap { Int32($0) }
    }

    @Test func whatAKilledNodeHadGoesOnElsewhere() async throws {
        let place = try PostgresServer.shared.get().schema()
        try writeGated()
        var first = try await start("first", place)
        try drop("1", "2")
        #expect(try await eventually { try !seen().isEmpty })
        var second = try await start("second", place)
        try first.end()
        let killed = MonotonicTime.now()
        // Also where the drop had no row yet.
        #expect(try await eventually { try seen().count == 2 }, "\(second.transcript)")
        print("jobs of a killed node went on after \((.now() - killed).text), with a lease of 2 s")
        try Folder.remove(scratch.path("gate"))
        #expect(await eventually { done("1") && done("2") }, "\(second.transcript)")
        // The second may have been the first to come for one of them.
        let stories = try ["1", "2"].map { try run("show", $0, "--journal", place).text }
        #expect(stories.contains { $0.contains("taken over") && $0.contains("from 'first'") }, "\(stories)")
        try stop(&second)
        #expect(try Folder.names(in: scratch.path("pipelines/.dropmill/a/nodes")).isEmpty)
        #expect(try run("nodes", "--journal", place).status == 1)
    }

    @Test func aCopyIsKnownAlsoWhereTheFirstOneWasTakenOver() async throws {
        let place = try PostgresServer.shared.get().schema()
        try writeGated(stages: "[dedupe: { seen: fail }, GATED]")
        var first = try await start("first", place)
        try scratch.write("the same", to: "pipelines/a-in/1")
        #expect(try await eventually { try seen().count == 1 })
        try first.end()
        var second = try await start("second", place)
        try scratch.write("the same", to: "pipelines/a-in/2")
        #expect(await eventually { scratch.exists("pipelines/a-failed/2") }, "\(second.transcript)")
        #expect(try await eventually { try seen().count == 2 }, "\(second.transcript)")
        try Folder.remove(scratch.path("gate"))
        #expect(await eventually { done("1") }, "\(second.transcript)")
        try stop(&second)
    }

    @Test func whoSleptFindsItsJobsAreOthersAndBeginsAnew() async throws {
        let place = try PostgresServer.shared.get().schema()
        try writeGated()
        var first = try await start("first", place)
        try drop("1")
        #expect(try await eventually { try !seen().isEmpty })
        var second = try await start("second", place)
        try first.send(SIGSTOP)
        #expect(try await eventually { try seen().count == 2 }, "\(second.transcript)")
        try first.send(SIGCONT)
        #expect(try await eventually { try first.hasLogged("trouble", "as a new node") }, "\(first.transcript)")
        let program = try #require(try seen().first)
        #expect(await eventually { kill(program, 0) != 0 }, "what it ran goes on")
        try Folder.remove(scratch.path("gate"))
        #expect(await eventually { done("1") })
        // It has the same number, and works again.
        #expect(try await eventually { try run("nodes", "--journal", place).text.contains(/first .* alive/) })
        try stop(&second)
        try drop("2")
        #expect(await eventually { done("2") }, "\(first.transcript)")
        #expect(try Folder.names(in: scratch.path("pipelines/a-done")).count == 4)
        try stop(&first)
    }

    @Test func withoutItsDatabaseANodeClaimsNothingAndGoesOnLater() async throws {
        let server = try PostgresServer()
        let place = try server.schema()
        try writeGated()
        var node = try await start("first", place)
        try drop("1")
        #expect(try await eventually { try !seen().isEmpty })
        try server.stop()
        #expect(try await eventually { try node.hasLogged("paused", "journal") }, "\(node.transcript)")
        let metrics = try run("metrics", "--state-dir", "state-first")
        #expect(metrics.status == 0 && metrics.text.contains("\ndropmill_up{node=\"first\"} 1\n"), "\(metrics.text)")
        #expect(metrics.text.contains(#"dropmill_pipeline_paused{node="first",pipeline="a",reason="trouble"} 1"#))
        try drop("2")
        // What runs goes on.
        try Folder.remove(scratch.path("gate"))
        let program = try #require(try seen().first)
        #expect(await eventually { kill(program, 0) != 0 })
        #expect(!done("1") && scratch.exists("pipelines/a-in/2"))
        try server.begin()
        #expect(await eventually { done("1") && done("2") }, "\(node.transcript)")
        #expect(try seen().count == 2, "the first was not begun with again")
        try stop(&node)
    }

    @Test func aStageRunsNoMoreOftenOnAllNodesThanItMay() async throws {
        let place = try PostgresServer.shared.get().schema()
        try scratch.write("", to: "gate")
        let (gate, marks) = (scratch.path("gate").string, try scratch.makeFolder("marks").string)
        // Each counts who is in it at the same time.
        let script =
            "touch \(marks)/$$; ls \(marks) | wc -l >> \(scratch.path("counts").string); "
            + "while [ -e \(gate) ]; do sleep 0.05; done; rm \(marks)/$$"
        let stage = "run: { command: [sh, -c, '\(script)'], workers: { fleet: 2 } }"
        try write("a", stages: "[\(stage)]", "active: { jobs: 10 }\n")
        func counts() throws -> [Int] {
            guard scratch.exists("counts") else { return [] }
            return try scratch.text("counts").split(separator: "\n").compactMap { Int($0) }
        }
        var nodes = [try await start("first", place)]
        for number in 0..<10 { try drop("\(number)") }
        #expect(try await eventually { try counts().count == 2 })
        nodes.append(try await start("second", place))
        for number in 10..<20 { try drop("\(number)") }
        let waiting = /waits? for one of 2 slots that all nodes have for 'run'/
        #expect(try await eventually { try run("status", "--journal", place).text.contains(waiting) })
        #expect(try counts().count == 2)
        func claimed() throws -> [String] {
            try scratch.tree("pipelines/.dropmill/a/nodes").filter { $0.contains(#/active/[^/]+/\d+$/#) }
        }
        #expect(try await eventually { try claimed().count == 20 })
        let folders = try claimed()
        func explained() throws -> [String] {
            try folders.map { try run("explain", "pipelines/.dropmill/a/nodes/\($0)", "--journal", place).text }
        }
        #expect(try explained().count { $0.contains("of 2 slots that all nodes have for 'run'") } >= 18)
        // What a killed one had is free once it is dead, and its programs have died with it.
        try nodes[0].end()
        let own = try Folder.names(in: FilePath(marks))
        func gone() -> [FileName] { own.filter { name in Int32(name.text).map { kill($0, 0) != 0 } ?? true } }
        #expect(await eventually { gone().count == 2 })
        for name in gone() { try Folder.remove(FilePath(marks).appending(name)) }
        try Folder.remove(scratch.path("gate"))
        nodes[0] = try await start("first", place)
        #expect(await eventually { (0..<20).allSatisfy { done("\($0)") } }, "\(nodes[1].transcript)")
        #expect(try counts().max() == 2)
        for number in nodes.indices { try stop(&nodes[number]) }
    }

    @Test func oneNodeListsTheInboxUntilItIsFullOrDies() async throws {
        let place = try PostgresServer.shared.get().schema()
        try writeGated("scan: leader\nactive: { jobs: 2 }\n")
        var first = try await start("first", place)
        try drop("1")
        #expect(try await eventually { try seen().count == 1 }, "\(first.transcript)")
        var second = try await start("second", place)
        try drop("2")
        #expect(try await eventually { try run("nodes", "--journal", place).text.contains(/first .* 2  alive/) })
        // There it waits for a worker. Of the other node nobody has asked anything until then.
        try drop("3")
        let asked = try run("explain", "pipelines/a-in/3", "--state-dir", "state-second", "pipelines").text
        #expect(asked.contains("another node lists this inbox"), "\(asked)")
        let full = MonotonicTime.now()
        #expect(try await eventually { try seen().count == 2 }, "\(second.transcript)")
        print("the next one listed an inbox after \((.now() - full).text) in which there was no room")
        try Folder.remove(scratch.path("gate"))
        #expect(await eventually { ["1", "2", "3"].allSatisfy(done) })
        try drop("4")
        #expect(await eventually { done("4") })
        try second.send(SIGSTOP)
        let stopped = MonotonicTime.now()
        try drop("5")
        #expect(await eventually { done("5") }, "\(first.transcript)")
        print("an inbox was listed again \((.now() - stopped).text) after its leader fell asleep")
        try second.send(SIGCONT)
        try stop(&first)
        try drop("6")
        #expect(await eventually { done("6") }, "\(second.transcript)")
        // Where no node may claim, one lists all the same.
        #expect(try run("pause", "a", "--journal", place).status == 0)
        #expect(try await eventually { try second.hasLogged("held") }, "\(second.transcript)")
        try drop("7")
        #expect(
            try await eventually {
                try run("explain", "pipelines/a-in/7", "--state-dir", "state-second", "pipelines").text.contains(
                    "paused")
            })
        #expect(try run("resume", "a", "--journal", place).status == 0)
        #expect(await eventually { done("7") }, "\(second.transcript)")
        try stop(&second)
    }

    @Test(.enabled(if: MirrorMount.isPossible, Comment(rawValue: MirrorMount.skip)))
    func whereItsMountIsAwayALeaderPassesTheLeadOn() async throws {
        let place = try PostgresServer.shared.get().schema()
        for name in ["share/a-in", "mount"] { try scratch.makeFolder(name) }
        var mount: MirrorMount? = try MirrorMount(of: scratch.path("share"), at: scratch.path("mount"))
        for (node, folder) in [("first", "mount"), ("second", "share")] {
            let folders = ["inbox: ../FOLDER/a-in", "processed: ../FOLDER/a-done", "failed: ../FOLDER/a-failed"]
            try scratch.write(
                folders.joined(separator: "\n").replacing("FOLDER", with: folder)
                    + "\nready: { quiet: 50ms }\nscan: leader\nstages: [checksum]\n", to: "\(node)/a.yaml")
        }
        func drop(_ name: String) throws { try scratch.write("content", to: "share/a-in/\(name)") }
        func done(_ name: String) -> Bool { scratch.exists("share/a-done/\(name)") }
        var first = try await start("first", place, "first")
        try drop("1")
        #expect(await eventually { done("1") }, "\(first.transcript)")
        var second = try await start("second", place, "second")
        try drop("2")
        #expect(await eventually { done("2") }, "\(first.transcript)")
        #expect(try workers(place) == ["first"])
        mount = nil
        try drop("3")
        #expect(await eventually { done("3") }, "\(second.transcript)")
        #expect(try await eventually { try workers(place) == ["first", "second"] })
        #expect(try await eventually { try first.hasLogged("paused") }, "\(first.transcript)")
        try first.end()
        try stop(&second)
        _ = mount
    }

    /// The nodes that had jobs which are over.
    private func workers(_ place: String) throws -> [String] {
        try PostgresServer.shared.get().ask(
            "SELECT DISTINCT n.name FROM nodes n JOIN history h ON h.node = n.incarnation ORDER BY 1", in: place)
    }

    @Test func whatOneDaemonAloneCanDoIsRefusedAtItsLine() throws {
        let place = try PostgresServer.shared.get().schema()
        try write("a", stages: "[checksum: { into: list }]", "order: name\non_conflict: replace\n")
        let refused = try run("run", "--journal", place, "--once")
        #expect(refused.status == 78)
        for (line, what) in [(5, "checksum: { into: list }"), (6, "order: name"), (7, "on_conflict: replace")] {
            let message = "a.yaml:\(line):"
            #expect(
                refused.text.split(separator: "\n").contains {
                    $0.contains(message) && $0.contains("'\(what)' does not work with a shared journal")
                }, "\(refused.text)")
        }
        #expect(try run("check", "pipelines").status == 0)
    }

    @Test func aWorkFolderIsEitherSharedOrNot() async throws {
        let place = try PostgresServer.shared.get().schema()
        try write("a")
        var node = try await start("first", place)
        let own = try run("run", "--once")
        #expect(own.status == 78 && own.text.contains("nodes that share a journal"), "\(own.text)")
        try stop(&node)
        try drop("1")
        #expect(try run("run", "--once").status == 0)
        #expect(done("1"))
        // And the other way round, as long as it holds jobs.
        try scratch.write("", to: "pipelines/.dropmill/a/active/\(JobIDGenerator().next().text)/2")
        let shared = try run("run", "--once", "--journal", place)
        #expect(shared.status == 78 && shared.text.contains("holds jobs"), "\(shared.text)")
    }
}
