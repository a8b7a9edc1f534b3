import Files
import Glibc
import SystemPackage
import TestSupport
import Testing

/// What a running daemon has loaded, and what its files say by now.
@Suite(.timeLimit(.minutes(5))) struct UnloadedFilesTests {
    private let scratch: ScratchFolder

    init() throws {
        scratch = try ScratchFolder()
        try write("press", "match: { include: ['*.csv'] }")
        try scratch.makeFolder("elsewhere")
    }

    private func write(_ name: String, _ more: String = "") throws {
        let folders = "inbox: ../\(name)-in\nprocessed: ../\(name)-done\nfailed: ../\(name)-failed\n"
        try scratch.write(folders + "stages: [checksum]\n\(more)\n", to: "etc/pipelines/\(name).yaml")
    }

    private func start() async throws -> DropmillProcess {
        let daemon = try DropmillProcess(
            ["run", "etc/pipelines", "--state-dir", "state"], in: scratch.path, log: scratch.path("log"))
        try #require(await eventually { scratch.exists("state/control.sock") })
        return daemon
    }

    /// From where nothing of the daemon is.
    private func run(_ arguments: String...) throws -> Tool.Output {
        try Tool(DropmillProcess.binary).run(
            arguments + ["--state-dir", scratch.path("state").string], in: scratch.path("elsewhere"))
    }

    @Test func theDaemonKnowsItsFiles() async throws {
        let alone = try run("check")
        #expect(alone.status == 78 && alone.text.contains("pipelines"), "\(alone.text)")
        var daemon = try await start()
        try write("more")
        #expect(try run("check").text.split(separator: "\n").map { $0.prefix { $0 != ":" } } == ["more", "press"])
        try scratch.write("stall: soon", to: "etc/dropmill.yaml")
        let wrong = try run("check")
        let place = scratch.path("etc/dropmill.yaml").string + ":1:8: error: 'stall': 'soon' is not a duration"
        #expect(wrong.status == 78 && wrong.text.contains(place), "\(wrong.text)")
        let drop = try run("explain", scratch.path("etc/press-in/a.csv").string)
        #expect(drop.status == 0 && drop.text.contains("a drop for the pipeline press"), "\(drop.text)")
        try daemon.send(SIGTERM)
        #expect(try daemon.wait() == 0)
    }

    @Test func itWaitsForAFirstPipelineWhereItMay() async throws {
        let file = scratch.path("etc/pipelines/press.yaml")
        try Folder.remove(file)
        let refused = try Tool(DropmillProcess.binary).run(["run", "etc/pipelines"], in: scratch.path)
        #expect(refused.status == 78 && refused.text.contains("no *.yaml file in this folder"), "\(refused.text)")
        var daemon = try DropmillProcess(
            ["run", "--allow-none", "etc/pipelines", "--state-dir", "state"], in: scratch.path,
            log: scratch.path("log"))
        try #require(await eventually { scratch.exists("state/control.sock") })
        #expect(try run("health").status == 0)
        #expect(try run("status").text.contains("no pipeline has run yet"))
        #expect(try run("reload").status == 0)
        try write("press")
        #expect(try run("reload").text == "press: added\n")
        try scratch.write("x", to: "etc/press-in/a")
        #expect(await eventually { scratch.exists("etc/press-done/a") })
        try Folder.remove(file)
        #expect(try run("reload").text == "press: removed\n")
        #expect(try run("status").text.contains("not loaded any more, with nothing unfinished: press"))
        #expect(try run("health").status == 0)
        try daemon.send(SIGTERM)
        #expect(try daemon.wait() == 0)
    }

    @Test func whatIsNotLoadedIsSaidUntilItIs() async throws {
        var daemon = try await start()
        let drop = scratch.path("etc/press-in/a.csv").string
        #expect(try !run("status").text.contains("not loaded"))
        try write("press", "match: { include: ['*.pdf'] }")
        try write("more")
        let status = try run("status").text
        #expect(
            status.contains(/press\.yaml was changed .* ago and is not loaded; 'dropmill reload' loads what is there/),
            "\(status)")
        #expect(status.contains("more.yaml is new and not loaded"), "\(status)")
        let json = try run("status", "--json").text
        #expect(json.contains(#"/etc/pipelines/press.yaml","change":"changed","at":""#), "\(json)")
        #expect(json.contains(#"/etc/pipelines/more.yaml","change":"added""#), "\(json)")
        // What the daemon does, and what the file says.
        let both = try run("explain", drop)
        #expect(both.status == 0)
        let halves = both.text.split(separator: "After 'dropmill reload':")
        try #require(halves.count == 2, "\(both.text)")
        #expect(halves[0].contains("`match.include` has '*.csv'") && halves[0].contains("and is not loaded"))
        #expect(halves[1].contains("no pattern of `match.include` matches its name: '*.pdf'"))
        #expect(try run("explain", drop, "--json").text.contains(#""after_reload":{"file":""#))
        try scratch.write("inbox: [", to: "etc/pipelines/more.yaml")
        let refused = try run("explain", drop).text
        #expect(refused.contains("A reload would be refused:") && refused.contains("more.yaml:2:"), "\(refused)")
        try write("more")
        #expect(try run("reload").status == 0)
        #expect(try !run("status").text.contains("not loaded"))
        #expect(try !run("explain", drop).text.contains("After 'dropmill reload'"))
        try Folder.remove(scratch.path("etc/pipelines/more.yaml"))
        try scratch.write("stall: 1h", to: "etc/dropmill.yaml")
        let gone = try run("status").text
        #expect(gone.contains("more.yaml is not as it was loaded: it is in none of the folders any more"), "\(gone)")
        #expect(gone.contains("dropmill.yaml is new and not loaded"), "\(gone)")
        #expect(try run("explain", drop).text.contains("After 'dropmill reload' nothing changes for this file"))
        try daemon.send(SIGTERM)
        #expect(try daemon.wait() == 0)
    }
}
