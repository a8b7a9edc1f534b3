import Files
import Glibc
import Journal
import PipelineKit
import PostgresJournal
import SystemPackage
import TestSupport
import Testing

/// What people order on daemons that share a journal: on all, on one, and from hosts where none runs.
@Suite(.enabled(if: PostgresServer.isPossible, "needs postgresql"), .timeLimit(.minutes(5)))
struct NodeOrderTests: DaemonTests {
    let scratch: ScratchFolder
    private let server: PostgresServer
    private let place: String

    init() throws {
        scratch = try ScratchFolder()
        server = try PostgresServer.shared.get()
        place = try server.schema()
    }

    /// `pipelines`: the folder with its files.
    private func start(_ name: String, lease: String = "2s", _ pipelines: String...) async throws -> DropmillProcess {
        let log = scratch.path("\(name)-\(UInt32.random(in: .min ... .max)).log")
        let daemon = try DropmillProcess(
            [
                "run", "--journal", place, "--node", name, "--lease", lease, "--state-dir", "state-\(name)",
                "--log-format", "json",
            ] + pipelines, in: scratch.path, log: log)
        try #require(await eventually { try daemon.hasLogged("started") }, "\(daemon.transcript)")
        return daemon
    }

    /// From a host where no daemon runs.
    private func order(_ arguments: String...) throws -> Tool.Output {
        try Tool(DropmillProcess.binary).run(
            arguments + ["--journal", place, "--state-dir", "elsewhere"], in: scratch.path)
    }

    private func drop(_ name: String) throws { try scratch.write("content of \(name)", to: "pipelines/a-in/\(name)") }
    private func waits(_ name: String) -> Bool { scratch.exists("pipelines/a-in/\(name)") }
    private func done(_ name: String) -> Bool { scratch.exists("pipelines/a-done/\(name)") }

    /// The nodes that had jobs which are over.
    private func workers() throws -> [String] {
        try server.ask("SELECT DISTINCT n.name FROM nodes n JOIN history h ON h.node = n.incarnation", in: place)
    }

    @Test func whatIsPausedOnOneHostIsPausedOnAll() async throws {
        try write("a")
        var nodes = [try await start("first"), try await start("second")]
        let paused = try order("pause", "a", "--reason", "RIP is down")
        #expect(paused.status == 0 && paused.text.contains(#/^a: paused by .*: RIP is down\n$/#), "\(paused.text)")
        for node in nodes {
            #expect(try await eventually { try node.hasLogged("held", "RIP is down") }, "\(node.transcript)")
        }
        try drop("1")
        // Who comes later obeys, too, from the first moment.
        nodes.append(try await start("third"))
        #expect(try await eventually { try nodes[2].hasLogged("held", "RIP is down") }, "\(nodes[2].transcript)")
        #expect(try order("status").text.contains(#/ paused by .*: RIP is down\n/#))
        #expect(try run("nodes", "--journal", place).text.contains(#/\non all nodes a is paused by .*: RIP is down\n/#))
        #expect(waits("1") && !done("1"))
        // Also from a node, through its socket.
        let resumed = try run("resume", "--state-dir", "state-first")
        #expect(resumed.status == 0 && resumed.text == "a: resumed\n", "\(resumed.text)")
        for node in nodes {
            #expect(try await eventually { try node.hasLogged("resumed") }, "\(node.transcript)")
        }
        #expect(await eventually { done("1") })
        #expect(try nodes[1].hasLogged("resumed", "resumed by somebody on another host"))
        #expect(try order("audit").text.contains(#/pause +a/#))
        for place in nodes.indices { try stop(&nodes[place]) }
    }

    @Test func whatOneNodeIsHeldByHoldsItAlone() async throws {
        try write("a")
        var (first, second) = (try await start("first"), try await start("second"))
        let drained = try order("drain", "a", "--node", "first")
        #expect(drained.status == 0 && drained.text.hasPrefix("a: drained on first by "), "\(drained.text)")
        #expect(try await eventually { try first.hasLogged("held", "drained on first") }, "\(first.transcript)")
        for name in ["1", "2", "3"] { try drop(name) }
        #expect(await eventually { ["1", "2", "3"].allSatisfy(done) }, "\(second.transcript)")
        #expect(try workers() == ["second"] && !second.hasLogged("held"))
        let nodes = try run("nodes", "--journal", place).text
        #expect(nodes.contains(#/\nfirst .*\n +a is drained on first by .*\nsecond /#), "\(nodes)")
        #expect(try order("status").text.contains("drained on first by"))
        let json = try order("status", "--json").text
        #expect(json.contains(#/"held_on":\[\{"kind":"drain",[^\]]*"node":"first"\}\]/#), "\(json)")

        // It is held when it comes back.
        try stop(&first)
        first = try await start("first")
        #expect(try await eventually { try first.hasLogged("held", "drained on first") }, "\(first.transcript)")
        #expect(try order("resume", "a", "--node", "second").text == "a: was not held\n")
        #expect(try order("pause", "--node", "frist").text.contains("did you mean 'first'"))
        _ = try order("pause", "a")
        for node in [first, second] {
            #expect(try await eventually { try node.hasLogged("held", "a: paused by") }, "\(node.transcript)")
        }
        let kept = try order("resume", "a", "--node", "first")
        #expect(kept.status == 1, "\(kept.text)")
        #expect(kept.text.contains("a: resumed on first\n") && kept.text.contains("on all nodes; 'dropmill resume'"))
        #expect(try order("resume").text == "a: resumed\n")
        #expect(try await eventually { try first.hasLogged("resumed") && second.hasLogged("resumed") })
        try stop(&first)
        try stop(&second)
    }

    @Test func jobsAreCancelledAndPutFirstWhereverTheyAre() async throws {
        let gate = scratch.path("gate").string
        try scratch.write("", to: "gate")
        let script = "echo >> \(scratch.path("seen").string); while [ -e \(gate) ]; do sleep 0.05; done"
        try write("a", stages: "[run: { command: [sh, -c, \"\(script)\"], workers: 2 }]")
        var (first, second) = (try await start("first"), try await start("second"))
        for name in ["1", "2"] { try drop(name) }
        #expect(
            try await eventually {
                try scratch.exists("seen") && scratch.text("seen").count == 2
                    && server.ask("SELECT count(*) FROM unfinished", in: place) == ["2"]
            }, "\(first.transcript)")

        let preview = try order("cancel", "1", "2", "--dry-run")
        #expect(preview.status == 0 && preview.text.hasPrefix("2 jobs"), "\(preview.text)")
        let released = try order("release", "1")
        #expect(released.status == 1 && released.text.contains("error: "), "\(released.text)")
        let none = try order("cancel", "--pipeline", "a", "--node", "third")
        #expect(none.status == 1 && none.text.contains("there is no node 'third'"), "\(none.text)")
        let cancelled = try order("cancel", "1", "2")
        #expect(cancelled.status == 0, "\(cancelled.text)")
        #expect(await eventually { ["1", "2"].allSatisfy { scratch.exists("pipelines/a-failed/\($0)") } })
        #expect(try order("audit").text.contains("cancel"))

        // What waits in the inbox is put first on each node.
        _ = try order("pause", "a")
        #expect(try await eventually { try first.hasLogged("held") && second.hasLogged("held") })
        try drop("3")
        let file = scratch.path("pipelines/a-in/3").string
        #expect(
            try await eventually {
                // It waits where it is to be claimed: the other one leaves it to that.
                let bumped = try order("bump", file)
                return bumped.status == 0 && bumped.text.matches(of: #/3 on (first|second): /#).count == 1
                    && bumped.text.contains("another node comes first")
            })
        #expect(try order("halt", "--node", "all").text == "error: no such run is under way\n")
        try Folder.remove(scratch.path("gate"))
        try stop(&first)
        try stop(&second)
    }

    @Test func whoHasCameBackUnderItsNameIsNotTheOneThatWasAsked() async throws {
        let nodes = try (0..<2).map { _ in
            try PostgresJournal.open(place, as: Incarnation(of: "first", version: "9"))
        }
        defer { nodes.forEach { $0.close() } }
        // The one that waits for the name has it as soon as the first is dead, which is when its answer is there.
        let answer = #"{"version":2,"id":1,"answer":{"runs":[{"run":"3fa","verb":"retry"}]}}"#
        _ = try server.ask(
            """
            CREATE FUNCTION answer_and_die() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            UPDATE requests SET is_taken = true, answer = '\(answer)' WHERE number = NEW.number;
            UPDATE nodes SET dead_at = clock_timestamp() WHERE incarnation = NEW.node;
            RETURN NEW;
            END $$;
            CREATE TRIGGER answering AFTER INSERT ON requests FOR EACH ROW EXECUTE FUNCTION answer_and_die()
            """, in: place)
        let text = try run("halt", "--node", "first", "--journal", place).text
        #expect(text == "error: first: it is dead; nothing was done there\n", "\(text)")
        #expect(try nodes.allSatisfy { try $0.takeRequests().isEmpty })
    }

    /// Each node has files of its own, for the same folders.
    private func writeFiles(of nodes: String...) throws {
        for node in nodes {
            let folders = ["inbox: a-in", "processed: a-done", "failed: a-failed"].map {
                $0.replacing(" ", with: " \(scratch.path("pipelines").string)/")
            }
            try scratch.write(
                folders.joined(separator: "\n") + "\nready: { quiet: 50ms }\nstages: [checksum]\n",
                to: "\(node)/a.yaml")
        }
    }

    @Test func eachNodeReloadsItsOwnFiles() async throws {
        try writeFiles(of: "first", "second")
        var (first, second) = (try await start("first", "first"), try await start("second", "second"))
        for node in ["first", "second"] {
            let changed = "[checksum: { algorithm: sha512 }]"
            try scratch.write(
                try scratch.text("\(node)/a.yaml").replacing("[checksum]", with: changed), to: "\(node)/a.yaml")
        }
        try scratch.write("inbox: [\n", to: "second/b.yaml")
        let both = try order("reload", "--node", "all")
        #expect(both.status == 78, "\(both.text)")
        #expect(both.text.contains(#/(?m)^first: a: /#), "\(both.text)")
        #expect(both.text.contains(#/(?m)^second: .*b\.yaml/#), "\(both.text)")
        #expect(both.text.contains("second: error: the reload is refused; nothing is changed\n"), "\(both.text)")
        // Each is warned of what is not the same on the other.
        for (node, other) in [(first, "second"), (second, "first")] {
            #expect(
                try await eventually(within: .seconds(90)) {
                    try node.hasLogged("warning", "its stages here are not those on '\(other)'")
                }, "\(node.transcript)")
        }
        let json = try order("reload", "--node", "second", "--json")
        #expect(json.status == 78 && json.text.contains(#/"node":"second"/#) && !json.text.contains("\"first\""))
        try Folder.remove(scratch.path("second/b.yaml"))
        let one = try order("reload", "--node", "second")
        #expect(one.status == 0 && one.text.contains(#/^second: a: /#), "\(one.text)")
        let audit = try order("audit").text
        #expect(audit.contains(#/reload +→ first: a: /#) && audit.contains("→ second: refused: "), "\(audit)")
        // What makes no sense that way is not done.
        for line in [#"{"version":2,"id":1,"verb":"receive","arguments":{}}"#, "no request"] {
            _ = try server.ask(
                """
                INSERT INTO requests (node, "user", name, line) \
                SELECT incarnation, 0, 'x', '\(line)' FROM nodes WHERE name = 'first'
                """, in: place)
        }
        #expect(
            try await eventually {
                try server.ask("SELECT answer FROM requests", in: place).count { $0.contains("it does not do that") }
                    == 2
            })
        // Without a name this host's daemon is meant.
        let here = try run("reload", "--journal", place, "--state-dir", "state-first")
        #expect(here.status == 0 && !here.text.contains("second"), "\(here.text)")
        try stop(&first)
        try stop(&second)
    }

    @Test func whoDoesNotAnswerIsNamedInTime() async throws {
        try writeFiles(of: "first", "second")
        var (first, second) = (try await start("first", "first"), try await start("second", lease: "60s", "second"))
        try second.send(SIGSTOP)
        let begin = MonotonicTime.now()
        let hanging = try order("reload", "--node", "all")
        #expect(.now() - begin < .seconds(40))
        #expect(hanging.status == 1 && hanging.text.contains(#/(?m)^first: a: /#), "\(hanging.text)")
        let line = #/(?m)^error: second: it does not answer, and nothing was done there; it may be hanging/#
        #expect(hanging.text.contains(line), "\(hanging.text)")
        #expect(try server.ask("SELECT count(*) FROM requests", in: place) == ["0"])
        // Nor does it when it wakes.
        try second.send(SIGCONT)
        #expect(try await eventually { try order("reload", "--node", "second").status == 0 })
        #expect(try second.text().split(separator: "\n").count { $0.contains("\"event\":\"reloaded\"") } <= 1)
        try stop(&second)
        let dead = try order("reload", "--node", "second")
        #expect(dead.status == 1 && dead.text.contains("No node 'second' is alive"), "\(dead.text)")
        try stop(&first)
    }
}
