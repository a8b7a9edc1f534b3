import Files
import Glibc
import SystemPackage
import TestSupport
import Testing

/// Messages of a real daemon, as they arrive.
@Suite(
    .enabled(if: NotifyServer.isPossible, "needs python3"), .timeLimit(.minutes(5)), .serialized)
struct NotifyTests: DaemonTests {
    let scratch: ScratchFolder
    private let server: NotifyServer

    init() async throws {
        scratch = try ScratchFolder()
        server = try await NotifyServer()
        try write("press", stages: "[run: { command: [test, -e, \(scratch.path("well").string)] }]")
        try scratch.write("", to: "pipelines/dropmill.yaml")
    }

    private func settings(_ text: String) throws { try scratch.write(text, to: "pipelines/dropmill.yaml") }

    private func drop(_ names: String...) throws {
        for name in names { try scratch.write("x", to: "pipelines/press-in/\(name)") }
    }

    // MARK: What is told

    @Test func theFirstFailureIsToldAtOnceAndTheOthersOnceADigest() async throws {
        try settings("notify: [{ on: failed, to: { ntfy: '\(server.url("/press"))' }, digest: 12s }]")
        var daemon = try await start()
        try drop("first.zip")
        #expect(try await eventually { try server.requests.count == 1 })
        let first = try server.requests[0]
        #expect(first.path == "/press" && first.headers["title"]?.hasSuffix("press: 1 failed") == true, "\(first)")
        #expect(first.body.contains("first.zip failed: "), "\(first)")
        for number in 0..<20 { try drop("other-\(number).zip") }
        #expect(try await eventually { try server.requests.count == 2 })
        let second = try server.requests[1]
        #expect(second.body.contains("20 more of press failed: run.failed 20"), "\(second)")
        let ids = try server.requests.map { $0.headers["x-dropmill-id"] }
        #expect(ids[0] != nil && ids[1] != nil && ids[0] != ids[1])
        try stop(&daemon)
    }

    @Test func failuresThatWereMendedInTimeAreLeftOut() async throws {
        try settings("notify: [{ on: failed, to: { ntfy: '\(server.url("/press"))' }, digest: 6s }]")
        var daemon = try await start()
        try drop("first.zip")
        #expect(try await eventually { try server.requests.count == 1 })
        try drop("second.zip")
        #expect(try await eventually { try run("jobs", "--state", "failed").text.contains("second.zip") })
        try scratch.write("", to: "well")
        #expect(try run("retry", "second.zip").status == 0)
        #expect(try await eventually { try run("jobs", "--state", "processed").text.contains("second.zip") })
        unlink(scratch.path("well").string)
        // What is told next is the third alone.
        #expect(try await eventually { try !run("notify", "--test").text.isEmpty })
        let before = try server.requests.count
        let began = ContinuousClock.now
        #expect(await eventually { ContinuousClock.now - began > .seconds(7) })
        #expect(try server.requests.count == before)
        try drop("third.zip")
        #expect(try await eventually { try server.requests.count == before + 1 })
        let last = try server.requests.last?.body ?? ""
        // It is the newest of a digest or, where that was over before, the first of another.
        let (newest, first) = ("1 more of press failed: run.failed 1\nThe newest, third.zip: ", "third.zip failed: ")
        #expect(last.hasPrefix(newest) || last.hasPrefix(first), "\(last)")
        #expect(!last.contains("second.zip"), "\(last)")
        try stop(&daemon)
    }

    /// The daemon is killed when the message is there and before it can know that.
    @Test func oneThatIsKilledBetweenSendingAndNotingSendsItOnceMore() async throws {
        try settings("notify: [{ on: failed, to: { ntfy: '\(server.url("/press"))' }, digest: 1h }]")
        var daemon = try await start()
        try server.answer(.hanging)
        try drop("first.zip")
        #expect(try await eventually { try server.requests.count == 1 })
        try daemon.send(SIGKILL)
        _ = try daemon.wait()
        try server.answer(.taken)
        daemon = try await start()
        #expect(try await eventually { try server.requests.count == 2 })
        try stop(&daemon)
        daemon = try await start()
        try stop(&daemon)
        let requests = try server.requests
        #expect(requests.count == 2)
        #expect(requests[0].headers["x-dropmill-id"] == requests[1].headers["x-dropmill-id"])
        #expect(requests.allSatisfy { $0.body.hasPrefix("first.zip failed") })
    }

    @Test func quietIsToldOnceAndItsEndOnce() async throws {
        try settings("notify: [{ on: [quiet: 2s], to: { ntfy: '\(server.url("/quiet"))' }, digest: 1s }]")
        try scratch.write("", to: "well")
        var daemon = try await start()
        #expect(try await eventually { try server.requests.count == 1 })
        #expect(try server.requests[0].headers["title"]?.hasSuffix("press is quiet") == true)
        try drop("one.zip")
        #expect(try await eventually { try server.requests.count >= 2 })
        #expect(try server.requests[1].headers["title"]?.hasSuffix("press processes again") == true)
        try stop(&daemon)
    }

    @Test func aRefusedReloadIsToldAndItsEnd() async throws {
        try settings(
            "notify: [{ on: reload-refused, pipelines: [press], to: { ntfy: '\(server.url("/r"))' }, digest: 1s }]")
        var daemon = try await start()
        try scratch.write("inbox: [", to: "pipelines/other.yaml")
        #expect(try run("reload").status != 0)
        #expect(try await eventually { try server.requests.count == 1 })
        #expect(try server.requests[0].body.contains("other.yaml"))
        unlink(scratch.path("pipelines/other.yaml").string)
        #expect(try run("reload").status == 0)
        #expect(try await eventually { try server.requests.count == 2 })
        #expect(try server.requests[1].headers["title"]?.hasSuffix("the configuration was reloaded") == true)
        try stop(&daemon)
    }

    @Test func littleSpaceAndAPauseAreToldAndTheSwitchKnows() async throws {
        try write("full", "min_free: 4000TiB")
        try settings(
            """
            notify:
              - { on: [disk-low, paused], pipelines: [full], to: { ntfy: '\(server.url("/d"))' } }
              - ping: { url: '\(server.url("/hc?a=b"))', every: 1s }
            """)
        var daemon = try await start()
        func titles() throws -> [String] {
            try server.requests.compactMap { $0.headers["title"]?.split(separator: "] ").last.map(String.init) }
        }
        #expect(try await eventually { try titles().contains("full has little free space") })
        #expect(try await eventually { try server.requests.contains { $0.path == "/hc?a=b" } })
        try scratch.write("x", to: "pipelines/full-in/a")
        #expect(try await eventually { try titles().contains("full is paused") })
        #expect(try await eventually { try server.requests.contains { $0.path == "/hc/fail?a=b" } })
        let fault = try server.requests.first { $0.path == "/hc/fail?a=b" }
        #expect(fault?.body.contains("full") == true && fault?.body.contains("min_free") == true, "\(fault as Any)")
        try daemon.send(SIGSTOP)
        let count = try server.requests.count
        let began = ContinuousClock.now
        #expect(await eventually { ContinuousClock.now - began > .seconds(3) })
        #expect(try server.requests.count <= count + 1, "one that stands still tells nothing")
        try daemon.send(SIGCONT)
        try stop(&daemon)
        let after = try server.requests.count
        #expect(await eventually { ContinuousClock.now - began > .seconds(6) })
        #expect(try server.requests.count == after, "one that has ended tells nothing")
    }

    @Test func aReloadBringsRulesAndTakesThem() async throws {
        try settings("stall: 1m")
        var daemon = try await start()
        #expect(try run("notify", "--test").text.contains("no notifications are configured"))
        try drop("before.zip")
        #expect(try await eventually { try run("jobs", "--state", "failed").text.contains("before.zip") })
        try settings("notify: [{ on: failed, pipelines: [press, gone], to: { ntfy: '\(server.url("/new"))' } }]")
        let reload = try run("reload")
        #expect(reload.status == 0 && reload.text.contains("settings: changed (stall, notify)"), "\(reload.text)")
        #expect(reload.text.contains("warning: notify[1].pipelines: no pipeline matches 'gone'"), "\(reload.text)")
        try drop("after.zip")
        #expect(try await eventually { try server.requests.count == 1 })
        #expect(try server.requests[0].body.hasPrefix("after.zip failed: "))
        try settings("stall: 1m")
        #expect(try run("reload").status == 0)
        try drop("later.zip")
        #expect(try await eventually { try run("jobs", "--state", "failed").text.contains("later.zip") })
        try stop(&daemon)
        #expect(try server.requests.count == 1)
    }

    @Test func aRunThatEndsTellsWhatFailedInIt() throws {
        try settings("notify: [{ on: failed, to: { ntfy: '\(server.url("/once"))' } }]")
        try Folder.make(scratch.path("pipelines/press-in"), mode: 0o755)
        try drop("first.zip")
        let output = try run("run", "--once")
        #expect(output.status == 1 && output.text.contains("1 failed"), "\(output.text)")
        #expect(try server.requests.map(\.body).count { $0.hasPrefix("first.zip failed") } == 1, "\(output.text)")
    }
}
