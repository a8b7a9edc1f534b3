import Files
import FoundationEssentials
import Glibc
import Journal
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@testable import Control
@testable import DropmillCommand

/// Files that come in through the socket of a real daemon.
@Suite(.timeLimit(.minutes(5)), .serialized) struct UploadVerbTests: UploadScene {
    let scratch: ScratchFolder

    init() throws {
        scratch = try ScratchFolder()
        try write("press", "upload: true\nmax_upload: 1MiB\nmatch: { depth: 3, exclude: [old*] }")
    }

    // MARK: What is taken

    @Test func aFileBecomesADropOnceAllOfItIsThere() async throws {
        var daemon = try await start()
        let connection = try begin("2026/march/a.txt", size: 5).get()
        let hidden = try inbox()
        #expect(hidden.count == 1 && hidden.allSatisfy { $0.hasPrefix(".dropmill-") && $0.hasSuffix(".upload") })
        let status = try #require(FileStatus.of(scratch.path("pipelines/press-in/\(hidden.first ?? "")")))
        #expect(status.st_uid == geteuid() && status.st_mode & 0o777 == 0o644)
        try put("hel", to: connection)
        try connection.note(size: 3)
        try put("lo", to: connection)
        #expect(try connection.finish() == nil)
        #expect(await eventually { scratch.exists("pipelines/press-done/2026/march/a.txt") })
        #expect(try scratch.text("pipelines/press-done/2026/march/a.txt") == "hello")
        #expect(try inbox() == ["2026"])
        #expect(try run("audit").text.contains("'2026/march/a.txt' into press, 5 B"))
        #expect(try run("audit").text.contains("for anna (drop, 10.2.0.14)"))
        #expect(try run("audit", "--json").text.contains(#""result":"received""#))
        #expect(try send("empty", "") == nil)
        #expect(await eventually { scratch.exists("pipelines/press-done/empty") })
        try daemon.send(SIGTERM)
        #expect(try daemon.wait() == 0)
    }

    @Test func whatAPersonPausesTakesFiles() async throws {
        var daemon = try await start()
        #expect(try run("pause", "press").status == 0)
        #expect(try send("a", "x") == nil)
        #expect(try inbox() == ["a"])
        #expect(try run("resume", "press").status == 0)
        #expect(await eventually { scratch.exists("pipelines/press-done/a") })
        try daemon.end()
    }

    // MARK: What is not

    @Test func aWrongOneIsRefusedAndLeavesNothing() async throws {
        try write("closed", "")
        var daemon = try await start()
        #expect(try run("pause").status == 0)
        #expect(try refusal("a", into: "nobody") == "pipeline.unknown")
        #expect(try refusal("a", into: "closed") == "upload.off")
        #expect(try refusal("a", size: (1 << 20) + 1) == "upload.size")
        #expect(try refusal("a", size: -1) == "upload.length")
        for name in ["a.part", ".a", "../a", "a//b", "1/2/3/4", "old", "old/a"] {
            #expect(try refusal(name) == "name.refused", "\(name)")
        }
        #expect(try send("a", "abc", size: 4) == "upload.length")
        #expect(try send("a", "abcde", size: 4) == "upload.length")
        #expect(try send("a", "abcd") == nil)
        #expect(try send("a", "abcd") == "name.taken")
        try scratch.link("pipelines/press-in/link", to: "/tmp")
        try scratch.write("x", to: "pipelines/press-in/file")
        for name in ["link/a", "file/a"] { #expect(try refusal(name) == "name.refused", "\(name)") }
        #expect(try refusal("link") == "name.taken")
        #expect(try await eventually { try inbox() == ["a", "file", "link"] })
        try daemon.end()
    }

    @Test func aNameThatIsTakenMeanwhileIsNotReplaced() async throws {
        var daemon = try await start()
        #expect(try run("pause").status == 0)
        let (first, second) = (try begin("a", size: 1).get(), try begin("b/c", size: 1).get())
        #expect(try refusal("a") == "name.taken", "one of this name is coming")
        try scratch.write("other", to: "pipelines/press-in/a")
        try scratch.link("pipelines/press-in/b", to: "/tmp")
        for connection in [first, second] { try put("x", to: connection) }
        #expect(try first.finish()?.code == "name.taken")
        #expect(try second.finish()?.code == "name.refused")
        #expect(try scratch.text("pipelines/press-in/a") == "other")
        #expect(try inbox() == ["a", "b"])
        try daemon.end()
    }

    @Test func oneThatIsStillOpenForWritingGetsNoName() async throws {
        var daemon = try await start()
        let connection = try begin("a", size: 1).get()
        let hidden = try #require(try inbox().first)
        let other = try OpenFile.open(scratch.path("pipelines/press-in/\(hidden)"), O_WRONLY)
        try put("x", to: connection)
        #expect(try connection.finish()?.code == "upload.open")
        #expect(try inbox().isEmpty)
        try other.close()
        try daemon.end()
    }

    @Test func eightComeAtATimeAndWhoGoesMakesRoom() async throws {
        var daemon = try await start()
        var open = try (1...8).map { try begin("\($0)", size: 1).get() }
        #expect(try refusal("9") == "upload.busy")
        #expect(try run("status").status == 0, "others are answered all the same")
        open.removeLast()
        #expect(try await eventually { try refusal("9") == nil })
        open.removeAll()
        #expect(try await eventually { try inbox().isEmpty })
        #expect(
            try await eventually { try run("audit", "--json").text.contains("broken off: the connection was closed") })
        try daemon.end()
    }

    @Test func aConnectionHasOneFileAtATime() async throws {
        var daemon = try await start()
        let socket = try ControlClient.connect(in: state)
        defer { close(socket) }
        #expect(throws: ControlClient.Problem.self) {
            try ControlClient.exchange(ReceivedVerb.self, Nothing(), on: socket)
        }
        #expect(throws: ControlClient.Problem.self) {
            try ControlClient.exchange(ReceivingVerb.self, .init(size: 1), on: socket)
        }
        func ask(_ name: String) throws -> (code: String?, file: Int32) {
            var file: Int32 = -1
            let arguments = ReceiveVerb.Arguments(pipeline: "press", path: Data(name.utf8), size: 0)
            let answer = try ControlClient.exchange(ReceiveVerb.self, arguments, on: socket, taking: &file)
            return (answer.refusal?.code, file)
        }
        let first = try ask("a")
        #expect(first.code == nil && first.file >= 0)
        #expect(fcntl(first.file, F_GETFD) == FD_CLOEXEC && fcntl(first.file, F_GETFL) & O_ACCMODE == O_WRONLY)
        let second = try ask("b")
        #expect(second.code == "upload.failed" && second.file < 0)
        close(first.file)
        #expect(try ControlClient.exchange(ReceivedVerb.self, Nothing(), on: socket).refusal == nil)
        try daemon.end()
    }

    // MARK: Ends

    @Test func whatAKilledDaemonLeavesIsRemovedAtTheNextStart() async throws {
        var daemon = try await start()
        let connection = try begin("a", size: 2).get()
        try put("x", to: connection)
        try daemon.end()
        #expect(try inbox().count == 1)
        #expect(throws: ControlClient.Problem.self) { try connection.finish() }
        try scratch.write("not ours", to: "pipelines/press-in/.dropmill-1.uploads")
        try scratch.link("pipelines/press-in/.dropmill-1.upload", to: "/etc/passwd")
        daemon = try await start()
        let left = [".dropmill-1.upload", ".dropmill-1.uploads"]
        #expect(try await eventually { try inbox() == left })
        #expect(try daemon.text().contains("1 unfinished uploads were removed"))
        try daemon.end()
    }

    @Test func whatAKilledDaemonLeavesIsRemovedAlsoWhereTheInboxIsAnotherOneThen() async throws {
        var daemon = try await start()
        let connection = try begin("a", size: 2).get()
        try put("x", to: connection)
        try daemon.end()
        #expect(try inbox().count == 1)
        let file = try scratch.text("pipelines/press.yaml")
        try scratch.write(file.replacing("press-in", with: "press-new"), to: "pipelines/press.yaml")
        daemon = try await start()
        #expect(try await eventually { try inbox().isEmpty })
        #expect(await eventually { (try? scratch.text(".dropmill-state/uploads")) == "" }, "it is looked at no more")
        try daemon.end()
    }

    @Test func aDaemonThatStopsLeavesNothing() async throws {
        var daemon = try await start()
        let connection = try begin("a", size: 2).get()
        try daemon.send(SIGTERM)
        #expect(try daemon.wait() == 0)
        #expect(try inbox().isEmpty)
        #expect(throws: ControlClient.Problem.self) { try connection.finish() }
    }

    @Test func aReloadMayEndWhatItTook() async throws {
        var daemon = try await start()
        let connection = try begin("a", size: 1).get()
        try write("press", "upload: false")
        #expect(try run("reload").status == 0)
        try put("x", to: connection)
        #expect(try connection.finish()?.code == "upload.off")
        #expect(try inbox().isEmpty)
        try daemon.end()
    }

    @Test func anInboxThatIsGoneIsTroubleAndTakesNothing() async throws {
        var daemon = try await start()
        let connection = try begin("a", size: 1).get()
        let inbox = scratch.path("pipelines/press-in")
        #expect(rename(inbox.string, scratch.path("away").string) == 0)
        try put("x", to: connection)
        #expect(try connection.finish()?.code == "pipeline.trouble")
        #expect(try refusal("b") == "pipeline.trouble")
        #expect(try await eventually { try Folder.names(in: scratch.path("away")).isEmpty })
        #expect(rename(scratch.path("away").string, inbox.string) == 0)
        #expect(try await eventually { try send("c", "x") == nil })
        try daemon.end()
    }
}

/// Inboxes that are full.
@Suite(.timeLimit(.minutes(5)), .enabled(if: TemporaryMount.isPossible, "needs root to mount"))
struct FullInboxUploadTests {
    @Test func whatWouldLeaveTooLittleIsRefusedBeforeItIsSent() async throws {
        let scratch = try ScratchFolder()
        let mount = try TemporaryMount(tmpfs: "size=16m", at: try scratch.makeFolder("disk"))
        defer { withExtendedLifetime(mount) {} }
        try scratch.write(
            "inbox: disk/in\nwork: disk/work\nprocessed: done\nfailed: failed\nstages: [checksum]\nupload: true\n"
                + "min_free: 4MiB\n", to: "p.yaml")
        var daemon = try DropmillProcess(["run", "p.yaml"], in: scratch.path, log: scratch.path("log"))
        func begin(_ name: String, _ size: Int64) throws -> Result<UploadConnection, ReceiveVerb.Refusal> {
            try UploadConnection.begin(
                .init(pipeline: "p", path: Data(name.utf8), size: size), in: scratch.path(".dropmill-state"))
        }
        try #require(
            await eventually {
                do throws(ControlClient.Problem) {
                    return try ControlClient.ask(HealthVerb.self, Nothing(), in: scratch.path(".dropmill-state"))
                        .pipelines == 1
                } catch {
                    return false
                }
            }, "\(daemon.transcript)")
        guard case .failure(let large) = try begin("a", 13 << 20) else { throw Unexpected() }
        #expect(large.code == "space.floor")
        let first = try begin("a", 7 << 20).get()
        guard case .failure(let second) = try begin("b", 7 << 20) else { throw Unexpected() }
        #expect(second.code == "space.floor", "the first one still comes")
        withExtendedLifetime(first) {}
        try daemon.end()
    }

    private struct Unexpected: Error {}
}
