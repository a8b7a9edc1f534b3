import Files
import FoundationEssentials
import Glibc
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@testable import Control
@testable import DropmillCommand

/// Folders that come in through the socket of a real daemon.
@Suite(.timeLimit(.minutes(5)), .serialized) struct UploadFolderVerbTests: UploadScene {
    let scratch: ScratchFolder

    init() throws {
        scratch = try ScratchFolder()
        try write("press", "upload: true\nmax_upload: 1MiB", ready: "quiet: 50ms, unit: folder")
    }

    /// Sends a file of a folder; what refused it.
    @discardableResult
    private func part(_ path: String, _ text: String, size: Int? = nil, of folder: UploadConnection) throws -> String? {
        if let refusal = try folder.part(.init(path: Data(path.utf8), size: Int64(size ?? text.utf8.count))) {
            return refusal.code
        }
        try put(text, to: folder)
        folder.closeFile()
        return nil
    }

    private func makeFolder(_ path: String, in folder: UploadConnection) throws -> String? {
        try folder.part(.init(path: Data(path.utf8), size: nil))?.code
    }

    private func done(_ path: String) -> String { "pipelines/press-done/\(path)" }

    @Test func aFolderBecomesOneDropOnceAllOfItIsThere() async throws {
        var daemon = try await start()
        let folder = try begin("box", size: 8, files: 3).get()
        let hidden = try #require(try inbox().first)
        #expect(hidden.hasPrefix(".dropmill-") && hidden.hasSuffix(".upload"))
        #expect(try part("a", "hel", of: folder) == nil)
        #expect(try part("in/side/b", "lo", of: folder) == nil)
        #expect(try part("in/c", "abc", of: folder) == nil)
        #expect(try makeFolder("empty/er", in: folder) == nil)
        try folder.note(size: 8)
        #expect(try makeFolder("in", in: folder) == nil, "one that is there is left")
        for path in [hidden, "\(hidden)/in", "\(hidden)/empty"] {
            let status = try #require(FileStatus.of(scratch.path("pipelines/press-in/\(path)")))
            #expect(status.st_uid == geteuid() && status.st_mode & 0o777 == 0o755)
        }
        #expect(try run("status").text.contains("press") && (try inbox()) == [hidden], "it is not claimed before")
        #expect(try folder.finish() == nil)
        #expect(await eventually { scratch.exists(done("box/empty/er")) }, "\(daemon.transcript)")
        let mode = try #require(FileStatus.of(scratch.path(done("box")))).st_mode
        #expect(mode & 0o7777 == 0o755)
        #expect(try scratch.text(done("box/a")) == "hel" && scratch.text(done("box/in/side/b")) == "lo")
        #expect(try scratch.text(done("box/in/c")) == "abc")
        #expect(try run("jobs", "--json").text.split(separator: "\n").count == 1)
        #expect(try inbox().isEmpty)
        #expect(try run("audit").text.contains("'box' into press, 8 B in 3 files"))
        let empty = try begin("nothing", size: 0, files: 0).get()
        #expect(try empty.finish() == nil)
        #expect(await eventually { scratch.exists(done("nothing")) })
        try daemon.end()
    }

    @Test func wrongOnesAreRefusedAndLeaveNothing() async throws {
        try write("files", "upload: true")
        var daemon = try await start()
        #expect(try run("pause").status == 0)
        #expect(try refusal("box", files: 1, into: "files") == "upload.unit")
        #expect(try refusal("box") == "upload.unit")
        #expect(try refusal("box", size: (1 << 20) + 1, files: 1) == "upload.size")
        #expect(try refusal("box", files: 10_001) == "upload.entries")
        for name in [".box", "box.part", "..", "a/b"] {
            #expect(try refusal(name, files: 1) == "name.refused", "\(name)")
        }
        let folder = try begin("box", size: 10, files: 4).get()
        #expect(try refusal("box", files: 1) == "name.taken", "one of this name is coming")
        #expect(try part("a", "xy", of: folder) == nil)
        for name in ["../x", "/x", "a//b", ".x", "x.part", "in/.x/y", String(repeating: "x", count: 256)] {
            #expect(try part(name, "x", of: folder) == "name.refused", "\(name)")
        }
        #expect(try part("a", "x", of: folder) == "name.taken")
        #expect(try part("a/b", "x", of: folder) == "name.taken", "it is a file")
        #expect(try part("in/b", "x", of: folder) == nil)
        #expect(try part("in", "x", of: folder) == "name.taken", "it is a folder")
        #expect(try makeFolder("a", in: folder) == "name.taken")
        #expect(try part("large", "x", size: 8, of: folder) == "upload.length", "more bytes than announced")
        #expect(try part("c", "1234567", of: folder) == nil)
        #expect(try part("d", "", of: folder) == nil)
        #expect(try part("e", "", of: folder) == "upload.length", "more files than announced")
        #expect(try folder.finish() == nil)
        #expect(try inbox() == ["box"])
        #expect(try refusal("box", files: 1) == "name.taken")
        let early = try begin("early", size: 2, files: 2).get()
        #expect(try part("a", "xy", of: early) == nil)
        #expect(try early.finish()?.code == "upload.length")
        let short = try begin("short", size: 3, files: 1).get()
        #expect(try part("a", "xy", size: 3, of: short) == nil)
        #expect(try short.finish()?.code == "upload.length")
        #expect(try await eventually { try inbox() == ["box"] })
        try daemon.end()
    }

    @Test func aFileThatIsStillOpenEndsIt() async throws {
        var daemon = try await start()
        let folder = try begin("box", size: 1, files: 1).get()
        #expect(try folder.part(.init(path: Data("a".utf8), size: 1)) == nil)
        let hidden = try #require(try inbox().first)
        let other = try OpenFile.open(scratch.path("pipelines/press-in/\(hidden)/a"), O_WRONLY)
        try put("x", to: folder)
        #expect(try folder.finish()?.code == "upload.open")
        #expect(try inbox().isEmpty)
        try other.close()
        try daemon.end()
    }

    @Test func aFolderCountsAsOneOfEight() async throws {
        var daemon = try await start()
        var open = try (1...8).map { try begin("\($0)", size: 1, files: 1).get() }
        #expect(try part("in/a", "x", of: open[7]) == nil)
        #expect(try refusal("9", files: 1) == "upload.busy")
        open.removeLast()
        #expect(try await eventually { try refusal("9", files: 1) == nil })
        open.removeAll()
        #expect(try await eventually { try inbox().isEmpty })
        try daemon.end()
    }

    @Test func aNameThatIsTakenMeanwhileIsNotReplaced() async throws {
        var daemon = try await start()
        #expect(try run("pause").status == 0)
        let folder = try begin("box", size: 1, files: 1).get()
        try scratch.makeFolder("pipelines/press-in/box")
        #expect(try part("a", "x", of: folder) == nil)
        #expect(try folder.finish()?.code == "name.taken")
        #expect(try inbox() == ["box"] && Folder.names(in: scratch.path("pipelines/press-in/box")).isEmpty)
        try daemon.end()
    }

    @Test func noLinkLeadsOut() async throws {
        var daemon = try await start()
        let folder = try begin("box", size: 1, files: 1).get()
        let hidden = try #require(try inbox().first)
        try scratch.makeFolder("outside")
        try scratch.link("pipelines/press-in/\(hidden)/in", to: scratch.path("outside").string)
        #expect(try part("in/a", "x", of: folder) != nil)
        #expect(try Folder.names(in: scratch.path("outside")).isEmpty)
        folder.abandon()
        #expect(try await eventually { try inbox().isEmpty })
        #expect(scratch.exists("outside"))
        try daemon.end()
    }

    @Test func aPipelineThatIsGoneOrClosedEndsIt() async throws {
        try write("other", "upload: true", ready: "quiet: 50ms, unit: folder")
        var daemon = try await start()
        let (closed, gone) = (
            try begin("box", size: 2, files: 2).get(), try begin("box", size: 1, files: 1, into: "other").get()
        )
        #expect(try part("a", "x", of: closed) == nil)
        try write("press", "upload: false", ready: "quiet: 50ms, unit: folder")
        try Folder.remove(scratch.path("pipelines/other.yaml"))
        #expect(try run("reload").status == 0)
        #expect(try part("b", "x", of: closed) == "upload.off")
        #expect(try part("a", "x", of: gone) == "pipeline.unknown")
        #expect(try closed.finish()?.code == "upload.off")
        #expect(try gone.finish()?.code == "pipeline.unknown")
        #expect(try inbox().isEmpty && inbox("other-in").isEmpty)
        try daemon.end()
    }

    @Test func whatAKilledDaemonLeavesIsRemovedAtTheNextStart() async throws {
        var daemon = try await start()
        let folder = try begin("box", size: 2, files: 2).get()
        #expect(try part("in/side/a", "x", of: folder) == nil)
        try daemon.end()
        #expect(try inbox().count == 1)
        // One that came, and got such a name from somebody who may not remove what is in it.
        try scratch.write("x", to: "pipelines/press-in/.dropmill-mine.upload/a")
        #expect(throws: ControlClient.Problem.self) { try part("b", "x", of: folder) }
        daemon = try await start()
        #expect(try await eventually { try inbox().count == 1 })
        #expect(scratch.exists("pipelines/press-in/.dropmill-mine.upload/a"))
        try Folder.remove(scratch.path("pipelines/press-in/.dropmill-mine.upload"))
        let next = try begin("box", size: 2, files: 2).get()
        #expect(try part("in/side/a", "x", of: next) == nil)
        try daemon.send(SIGTERM)
        #expect(try daemon.wait() == 0)
        #expect(try inbox().isEmpty, "a daemon that stops leaves nothing")
    }
}
