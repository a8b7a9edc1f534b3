import Files
import Glibc
import Journal
import PipelineKit
import PostgresJournal
import SystemPackage
import TestSupport
import Testing

/// The verbs with a journal that nodes share, in a real database.
@Suite(.enabled(if: PostgresServer.isPossible, "needs postgresql"), .timeLimit(.minutes(5)))
struct SharedJournalTests: DaemonTests {
    let scratch: ScratchFolder
    private let server: PostgresServer
    private let place: String

    init() throws {
        scratch = try ScratchFolder()
        server = try PostgresServer.shared.get()
        place = try server.schema()
        try write("a")
    }

    /// A node that this test is.
    private func open(_ node: String, lease: Duration = .seconds(30)) throws -> any EngineJournal {
        try PostgresStore(place) { Incarnation(of: node, version: "9", lease: lease) }
            .open(durable: true, checking: true)
    }

    private func job(_ number: Int, _ state: JobRecord.State, named name: String) throws -> JobRecord {
        let time = Timestamp(nanoseconds: Timestamp.now().nanoseconds + Int64(number))
        let drop = Drop(name: try #require(FileName(name)), size: 7, droppedAt: time)
        let job = Job(
            id: JobIDGenerator().next(at: time), pipeline: "a", drop: drop, claimedAt: time,
            folder: scratch.path("work"))
        var record = JobRecord(
            claimed: job, identity: FileIdentity(device: 1, inode: UInt64(number)), definition: "d")
        record.state = state
        if state.isFinal { record.finishedAt = time }
        if state == .failed { record.failure = .file("test.bad", "It is bad.", remedy: "Send another.") }
        return record
    }

    private func pipeline(paused: Failure? = nil) throws -> PipelineRecord {
        PipelineRecord(
            name: "a", inbox: try scratch.makeFolder("pipelines/a-in"),
            failed: try scratch.makeFolder("pipelines/a-failed"), stages: ["checksum"], waiting: 3, paused: paused,
            pausedSince: paused == nil ? nil : .now(), updatedAt: .now())
    }

    /// A verb with the journal as the environment says it.
    private func runConfigured(_ arguments: String...) throws -> Tool.Output {
        try Tool("/usr/bin/env").run(
            ["DROPMILL_JOURNAL=\(place)", DropmillProcess.binary.string] + arguments, in: scratch.path)
    }

    private func state(of node: String) throws -> String? {
        let json = try run("nodes", "--all", "--json", "--journal", place).text
        let pattern = try Regex(#""name":"\#(node)".*?"state":"(\w+)""#)
        return json.firstMatch(of: pattern)?.output[1].substring.map(String.init)
    }

    // MARK: Reading

    @Test func anyHostReadsWhatNodesHaveWritten() throws {
        let (first, second) = (try open("first"), try open("second"))
        defer { [first, second].forEach { $0.close() } }
        let jobs = [try job(1, .queued, named: "one"), try job(2, .failed, named: "two")]
        let full = Failure(
            .environment, code: "disk.full", summary: "The disk is full.", remedy: "Free some space.")
        try first.write([jobs[0]], pipelines: [pipeline(paused: full)])
        try second.write([jobs[1]], pipelines: [pipeline()])

        let nodes = try run("nodes", "--journal", place)
        #expect(nodes.status == 0, "\(nodes.text)")
        #expect(nodes.text.contains(/first +\S+ +9 +\d{4}.* s +1 +alive\n +a is paused since .*: The disk is full\./))
        #expect(nodes.text.contains(/second +\S+ +9 +\d{4}.* s +0 +alive\n/), "\(nodes.text)")
        let json = try run("nodes", "--json", "--journal", place).text
        #expect(json.contains(/"nodes":\[\{"name":"first",.*"state":"alive".*"paused":\[\{"pipeline":"a"/), "\(json)")

        let listed = try run("jobs", "--journal", place)
        #expect(listed.status == 0 && listed.text.contains("one") && listed.text.contains("two"), "\(listed.text)")
        #expect(try runConfigured("jobs").text.contains("two"))
        #expect(!listed.text.contains("no daemon is running"), "a node is alive")
        #expect(try run("show", "two", "--journal", place).text.contains("It is bad."))
        #expect(try run("failures", "--journal", place).text.contains("test.bad"))
        let status = try run("status", "--journal", place)
        #expect(status.text.hasPrefix("2 nodes are alive: first, second\n"), "\(status.text)")
        #expect(status.text.contains(/a +3 +1 +0 +0 +0 +1\n/), "\(status.text)")
        #expect(status.text.contains(/paused on first since .*: The disk is full\./), "\(status.text)")
        let told = try run("status", "--json", "--journal", place).text
        #expect(told.contains(#""daemon":{"running":true},"nodes":[{"name":"first""#), "\(told)")
        #expect(told.contains(#""paused":true,"paused_on":[{"node":"first""#), "\(told)")
        // What is in the state folder is another matter.
        #expect(try run("jobs").status == 1)
    }

    @Test func whoWaitsForItsNameIsNotCalledAlive() throws {
        let first = try open("first")
        let twin = try PostgresJournal.open(place, as: Incarnation(of: "first", version: "9"))
        defer { [first, twin].forEach { $0.close() } }
        let nodes = try run("nodes", "--journal", place).text
        let lines = /\nfirst .* alive\nfirst .* s +0 +waits for its name, which another node has\n/
        #expect(nodes.contains(lines), "\(nodes)")
        #expect(try run("nodes", "--json", "--journal", place).text.contains(#""state":"waiting""#))
        #expect(try run("status", "--journal", place).text.hasPrefix("one node is alive: first\n"))
    }

    @Test func whoIsDeadIsListedAsLongAsItHasJobs() throws {
        let (first, second) = (try open("first"), try open("second"))
        defer { second.close() }
        try first.write([job(1, .queued, named: "one")], pipelines: [])
        try first.endRun()
        first.close()
        let nodes = try run("nodes", "--journal", place)
        let line = /first .* over +1 +dead, with jobs that nobody has taken over yet/
        #expect(nodes.text.contains(line), "\(nodes.text)")
        #expect(try run("status", "--journal", place).text.contains("first: 1 job, dead, with jobs that nobody"))
        try second.endRun()
        #expect(try !run("nodes", "--journal", place).text.contains("second"))
        #expect(try state(of: "second") == "dead")
        _ = try server.ask("DELETE FROM unfinished", in: place)
        let none = try run("nodes", "--journal", place)
        #expect(none.status == 1 && none.text == "no node is alive\n", "\(none.text)")
        #expect(try run("status", "--journal", place).text.hasPrefix("no node is alive\n"))
    }

    // MARK: Changing

    @Test func whatFailedIsSentInAgainFromAnyHost() throws {
        let node = try open("node")
        defer { node.close() }
        var failed = try job(1, .failed, named: "bad")
        let path = try scratch.write("content", to: "pipelines/a-failed/bad")
        failed.original = path
        try node.write([failed], pipelines: [pipeline()])
        let explain = try run("explain", path.string, "--journal", place)
        #expect(explain.status == 0 && explain.text.contains(failed.id.text), "\(explain.text)")
        let retry = try run("retry", "bad", "--journal", place)
        #expect(retry.status == 0, "\(retry.text)")
        #expect(scratch.exists("pipelines/a-in/bad") && !scratch.exists("pipelines/a-failed/bad"))
        #expect(try node.sentIn().map(\.job) == [failed.id])
        #expect(try run("audit", "--journal", place).text.contains("retry"))
        let json = try run("nodes", "--all", "--json", "--journal", place).text
        #expect(json.split(separator: "incarnation").count == 2, "who only notes something is no node: \(json)")

        try node.write([job(2, .failed, named: "worse")], pipelines: [])
        #expect(try runConfigured("dismiss", "worse").status == 0)
        #expect(try run("failures", "--json", "--journal", place).text.hasPrefix(#"{"total":1,"#))
    }

    // MARK: Running

    @Test func aDaemonIsANodeUntilItEnds() async throws {
        try scratch.write("content", to: "pipelines/a-in/letter")
        var daemon = try DropmillProcess(
            ["run", "--journal", place, "--node", "mill-1"], in: scratch.path, log: scratch.path("log"))
        func isDone() throws -> Bool {
            try run("jobs", "--state", "processed", "--journal", place).text.contains("letter")
        }
        try #require(await eventually { try isDone() }, "\(daemon.transcript)")
        #expect(try state(of: "mill-1") == "alive")
        #expect(try !scratch.tree(".dropmill-state").contains { $0.hasPrefix("journal") })
        let metrics = try run("metrics").text
        for line in [#"dropmill_up{node="mill-1"} 1"#, #"dropmill_node_up{node="mill-1"} 1"#] {
            #expect(metrics.contains("\n\(line)\n"), "\(metrics)")
        }
        #expect(metrics.contains(#"dropmill_jobs_total{pipeline="a",outcome="processed"} 1"#), "\(metrics)")
        #expect(try run("metrics", "--label", "node=x").status != 0)
        let brief = try run("status", "--journal", place).text
        #expect(brief.contains(/mill-1: 0 jobs, its lease holds for .* s\n/), "\(brief)")
        #expect(metrics.contains("/.dropmill/a\"") && !metrics.contains("/nodes/"), "\(metrics)")
        // Who is not told where the journal is asks the daemon.
        for (verb, line) in [("status", #/(?m)^a /#), ("jobs", #/letter/#), ("audit", #/^/#)] {
            let told = try run(verb)
            #expect(told.text.contains(line) && !told.text.contains("error: "), "\(told.text)")
        }
        // Another one of its name does not begin, whichever state folder it has.
        let twin = try run("run", "--once", "--journal", place, "--node", "mill-1", "--state-dir", "other")
        #expect(twin.status == 75, "\(twin.text)")
        #expect(twin.text.contains("A node 'mill-1' is alive already, on the host '"), "\(twin.text)")
        #expect(twin.text.contains("--node"), "\(twin.text)")
        #expect(try state(of: "mill-1") == "alive")
        try stop(&daemon)
        #expect(try state(of: "mill-1") == "dead")
        // Its name is free at once.
        let again = try run("run", "--once", "--journal", place, "--node", "mill-1")
        #expect(again.status == 0 && !again.text.contains("is used no more"), "\(again.text)")
        #expect(try run("run", "--once").status == 0)
        let after = try run("run", "--once", "--journal", place)
        #expect(after.status == 0 && after.text.contains("the journal in '.dropmill-state' is used no more"))
    }

    @Test func verbsThatDoNotKnowItYetSaySo() throws {
        for verb in ["prune", "doctor", "serve", "forget", "metrics"] {
            let output = try run(verb, "--journal", place)
            #expect(output.status == 64, "\(output.text)")
            #expect(output.text.contains("'\(verb)' does not work with a shared journal yet"), "\(output.text)")
        }
        let node = try open("node")
        defer { node.close() }
        try node.write([job(1, .queued, named: "one")], pipelines: [pipeline()])
        #expect(try runConfigured("forget", "one").status == 78)
        let doctor = try runConfigured("doctor")
        #expect(doctor.text.contains("is shared by several nodes, which is not examined yet"), "\(doctor.text)")
        #expect(!doctor.text.contains("stranded"))
        #expect(try run("nodes").status == 64 && run("journal", "init").status == 64)
        let lone = try run("run", "--once", "--node", "x")
        #expect(lone.status == 64 && lone.text.contains("--node is for a journal that nodes share"), "\(lone.text)")
        for verb in ["pause", "reload", "halt"] {
            let lone = try run(verb, "--node", "x")
            #expect(lone.status == 64 && lone.text.contains("--node is for a journal that nodes share"), "\(lone.text)")
            let bad = try run(verb, "--node", "bad\nname", "--journal", place)
            #expect(bad.status == 64 && bad.text.contains("must be printable"), "\(bad.text)")
        }
        for verb in ["reload", "halt"] {
            #expect(try run(verb).text.hasSuffix("name another with --state-dir\n"))
            let absent = try run(verb, "--journal", place)
            #expect(absent.status == 1 && absent.text.hasSuffix(", or a node with --node\n"), "\(absent.text)")
        }
        let compact = try runConfigured("journal", "compact")
        #expect(compact.status == 78 && compact.text.contains("unset it to compact"), "\(compact.text)")
        let waits = try scratch.write("content", to: "pipelines/a-in/letter").string
        #expect(try run("explain", waits, "--journal", place).text.contains(#/daemon +none runs here; ask on a host/#))
        let all = try run("run", "--once", "--node", "all", "--journal", place)
        #expect(all.status == 64 && all.text.contains("may not be called 'all'"), "\(all.text)")
    }

    // MARK: Roles

    @Test func aNodeNeedsNoMoreThanInitGrants() throws {
        let role = "node of \"\(place.suffix(5))\""
        _ = try server.ask("CREATE ROLE \"\(role.replacing("\"", with: "\"\""))\" LOGIN", in: place)
        let own = place.replacing("user=tests", with: "user='\(role)'")
        let missing = try run("journal", "upgrade", "--journal", place)
        #expect(missing.status == 1 && missing.text.contains("that could be upgraded"), "\(missing.text)")
        let nobody = try run("journal", "init", "--journal", place, "--grant", "nobody")
        #expect(nobody.status == 78 && nobody.text.contains("Create that role first."), "\(nobody.text)")
        let made = try run("journal", "init", "--journal", place, "--grant", role)
        #expect(made.status == 0, "\(made.text)")
        #expect(made.text.hasPrefix("the journal in 'postgresql://") && made.text.contains("nodes may use it as 'node"))
        for verb in ["init", "upgrade"] {
            #expect(try run("journal", verb, "--journal", place, "--grant", role).text.contains("is up to date"))
        }
        try scratch.write("content", to: "pipelines/a-in/letter")
        let daemon = try run("run", "--once", "--journal", own)
        #expect(daemon.status == 0, "\(daemon.text)")
        #expect(try run("jobs", "--journal", own).text.contains("letter"))
        // It makes and drops days of the history, though it owns nothing.
        _ = try server.ask(
            "CREATE TABLE history_20200101 PARTITION OF history FOR VALUES FROM ('0') TO ('00')", in: place)
        let node = try PostgresStore(own) { Incarnation(of: "b", version: "9") }.open(durable: true, checking: true)
        defer { node.close() }
        #expect(try node.giveBack() && !node.giveBack())
        for wrong in [
            "CREATE TABLE x ()", "DROP TABLE holds", "ALTER TABLE nodes ADD x int",
            "SELECT make_day_1('nodes', '0', '00')",
        ] {
            #expect(throws: (any Error).self) { try server.ask(wrong, in: own) }
        }
        _ = try server.ask("DELETE FROM migrations WHERE name = '1 days'", in: place)
        let old = try run("run", "--once", "--journal", own)
        #expect(old.status == 78 && old.text.contains("dropmill journal upgrade"), "\(old.text)")
    }

    // MARK: Bad places

    @Test(arguments: [
        ("postgresql://me:secret@db/x", "~/.pgpass"), ("postgresql://me:s%65cret@db/x", "~/.pgpass"),
        ("postgresql://db/x?password=secret", "~/.pgpass"), ("postgresql://db/x?pass%77ord=secret", "~/.pgpass"),
        ("host=db password=secret", "~/.pgpass"), ("host=db sslpassword=secret", "service file"),
        ("no place", "postgresql://host/database"), ("", "it is empty"),
        ("postgresql://db/x?wrong=1", "The journal's place makes no sense"),
    ])
    func whatMayNotStandThereIsRefused(words: String, remedy: String) throws {
        for verb in ["run", "jobs", "nodes"] {
            let output = try run(verb, "--journal", words)
            #expect(output.status == 78, "\(output.text)")
            #expect(output.text.hasPrefix("error: ") && output.text.contains(remedy), "\(output.text)")
            #expect(!output.text.contains("secret") && !output.text.contains("Usage"), "\(output.text)")
        }
    }

    @Test func whatIsWrongWithAPlaceIsSaid() throws {
        let server = "host=\(server.folder) user=tests"
        _ = try self.server.ask("CREATE ROLE stranger LOGIN", in: place)
        let cases: [(place: String, status: (read: Int32, run: Int32), words: String)] = [
            ("\(server) dbname=none", (78, 78), "Create that database, or name another."),
            (place.replacing("user=tests", with: "user=nobody"), (78, 78), "Check the role and pg_hba.conf"),
            ("host=\(scratch.path.string) dbname=x", (75, 75), "Check the server and the network"),
            ("service=none-such", (78, 78), "definition of service \"none-such\" not found"),
            (place.replacing("user=tests", with: "user=stranger"), (1, 78), "ournal init"),
            ("\(server) dbname=postgres options=-csearch_path=none", (1, 78), "options=-csearch_path=NAME"),
        ]
        for (place, status, words) in cases {
            let read = try run("jobs", "--journal", place)
            #expect(read.status == status.read && read.text.contains(words), "\(place): \(read.status) \(read.text)")
            let daemon = try run("run", "--once", "--journal", place)
            #expect(daemon.status == status.run, "\(place): \(daemon.status) \(daemon.text)")
            #expect(daemon.text.contains(words), "\(place): \(daemon.text)")
        }
    }

    /// What may be over at once is no fault of the configuration.
    @Test(
        .enabled(if: FakePostgres.isPossible, "needs python3"),
        arguments: [
            ("password", 78, "a password belongs in ~/.pgpass"), ("v13.12", 78, "13.12, and 14.0 or newer is needed"),
            ("28000", 78, "Check the role and pg_hba.conf"), ("3D000", 78, "Create that database"),
            ("42501", 78, "--grant ROLE"), ("53300", 75, "Raise 'max_connections'"),
            ("57P03", 75, "es geht nicht. Check the server and the network."),
        ])
    func whoIsNotLetInIsToldWhy(manner: String, status: Int, words: String) async throws {
        let server = try await FakePostgres(manner, in: scratch)
        for verb in [["jobs"], ["run", "--once"]] {
            let output = try Tool(DropmillProcess.binary).run(verb + ["--journal", server.place], in: scratch.path)
            #expect(output.status == status && output.text.contains(words), "\(output.status) \(output.text)")
        }
    }

    @Test func aJournalOfAnotherVersionIsNamed() throws {
        try open("node").close()
        _ = try server.ask("INSERT INTO migrations VALUES ('9 later')", in: place)
        for verb in [["jobs"], ["run", "--once"], ["journal", "upgrade"]] {
            let output = try Tool(DropmillProcess.binary).run(verb + ["--journal", place], in: scratch.path)
            #expect(output.status == 78, "\(output.text)")
            #expect(output.text.contains("'9 later'") && output.text.contains("Run on this node the version"))
        }
        _ = try server.ask("DELETE FROM migrations WHERE name IN ('9 later', '1 taking over')", in: place)
        let old = try run("jobs", "--journal", place)
        #expect(old.status == 78 && old.text.contains("dropmill journal upgrade"), "\(old.text)")
    }

    @Test func whereLibpqIsMissingItIsNamed() throws {
        // The linker takes the first that it finds.
        try scratch.write("none", to: "libraries/libpq.so.5")
        for verb in [["jobs"], ["run"]] {
            let output = try Tool("/usr/bin/env").run(
                ["LD_LIBRARY_PATH=\(scratch.path("libraries"))", DropmillProcess.binary.string] + verb
                    + ["--journal", place], in: scratch.path)
            #expect(output.status == 78, "\(output.text)")
            #expect(output.text.contains("cannot be loaded") && output.text.contains("(libpq5)"), "\(output.text)")
        }
    }
}
