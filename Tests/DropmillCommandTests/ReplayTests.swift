import Files
import Glibc
import Journal
import PipelineEngine
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@testable import DropmillCommand

/// Processed originals that are sent in again.
@Suite struct ReplayTests {
    private let fixture: JournalFixture
    private var scratch: ScratchFolder { fixture.scratch }

    /// What sha256sum says of `contents of 1`.
    private let digest = "83d47ee33875c67cc564aefce2dcea354925769ce1b7bb6a6f71ab0b5431ab4c"

    init() throws { fixture = try JournalFixture() }

    private func processed(
        _ number: Int = 1, _ name: String = "report.pdf", isKnown: Bool = true, replayOf: JobID? = nil,
        retryOf: JobID? = nil
    ) throws -> JobRecord {
        var record = try JournalFixture.job(number, .processed, named: name)
        (record.replayOf, record.retryOf) = (replayOf, retryOf)
        let path = try scratch.write("contents of \(number)", to: "processed/\(name)")
        record.original = path
        record.originalState = isKnown ? OriginalState(try #require(FileStatus.of(path))) : nil
        try fixture.journal.write([record], pipelines: [try fixture.pipeline()])
        return record
    }

    private func run(_ arguments: String...) throws -> Tool.Output {
        try Tool(DropmillBinary.path).run(["replay"] + arguments + ["--state-dir", "state"], in: scratch.path)
    }

    private func sent(_ path: FilePath) throws -> SentFile {
        let status = try #require(FileStatus.of(path))
        return SentFile(FileIdentity(status), into: scratch.path("inbox"), like: status)
    }

    private func expectRefusal(_ reason: String) throws {
        let output = try run("report.pdf")
        #expect(output.status == 1 && output.text.contains(reason), "\(output.text)")
        #expect(try scratch.tree("inbox") == [])
    }

    @Test func aCopyComesIntoTheInboxAndIsKnown() throws {
        let record = try processed()
        try scratch.write("another", to: "inbox/report.pdf")
        let output = try run("report.pdf")
        #expect(output.text == "\(record.id.text) report.pdf → inbox/report.2.pdf\n", "\(output.text)")
        #expect(try scratch.text("inbox/report.2.pdf") == "contents of 1")
        #expect(try scratch.text("processed/report.pdf") == "contents of 1")
        #expect(try scratch.text("inbox/report.pdf") == "another")
        var next = try JournalFixture.job(2)
        next.identity = try #require(FileIdentity.of(scratch.path("inbox/report.2.pdf")))
        next.drop = Drop(name: next.drop.name, size: 13, droppedAt: next.drop.droppedAt)
        try fixture.journal.write([next], pipelines: [])
        #expect(try fixture.journal.job(next.id)?.replayOf == record.id)
        let (first, second) = try (show(record.id.text), show(next.id.text))
        #expect(first.contains("replayed as  \(next.id.text) (queued)"), "\(first)")
        #expect(second.contains("replay of   \(record.id.text)"), "\(second)")
    }

    private func show(_ id: String) throws -> String {
        try Tool(DropmillBinary.path).run(["show", id, "--state-dir", "state"], in: scratch.path).text
    }

    @Test func anOriginalThatIsGoneOrAnotherIsRefused() throws {
        let record = try processed()
        let path = try #require(record.original)
        var times = [timespec(tv_sec: 1, tv_nsec: 0), timespec(tv_sec: 1, tv_nsec: 0)]
        #expect(path.withPlatformString { utimensat(AT_FDCWD, $0, &times, 0) } == 0)
        try expectRefusal("is not what was processed (it was changed); check it, and drop it again by hand")
        try scratch.write("longer than before", to: "processed/report.pdf")
        try expectRefusal("(its size is another)")
        try Folder.remove(path)
        try expectRefusal("is gone; drop it again")
        try scratch.makeFolder("processed/report.pdf")
        try expectRefusal("is a folder; copy it into the inbox by hand")
    }

    @Test func anotherFileWithTheSameSizeAndTimeIsRefused() throws {
        let path = try #require(try processed().original)
        let status = try #require(FileStatus.of(path))
        try scratch.write("contents of 2", to: "processed/other")
        var times = [status.st_mtim, status.st_mtim]
        #expect(scratch.path("processed/other").withPlatformString { utimensat(AT_FDCWD, $0, &times, 0) } == 0)
        #expect(rename(scratch.path("processed/other").string, path.string) == 0)
        try expectRefusal("(it is another file)")
    }

    @Test func anotherDigestIsRefused() throws {
        var record = try processed()
        record.digests = ["sha256": digest]
        try fixture.journal.write([record], pipelines: [])
        #expect(try run("report.pdf", "--dry-run").text == "1 job, 4.0 KiB: report.pdf\n")
        #expect(try run("report.pdf").status == 0)
        try Folder.remove(scratch.path("inbox/report.pdf"))
        record.digests = ["sha256": String(repeating: "0", count: 64)]
        try fixture.journal.write([record], pipelines: [])
        try expectRefusal("(its digest is another)")
    }

    @Test func ofAnOlderVersionsJobWhatIsOnRecordIsCompared() throws {
        var record = try processed(isKnown: false)
        try expectRefusal("(its size is another)")
        let path = try scratch.write(String(repeating: "x", count: 4096), to: "processed/report.pdf")
        try expectRefusal("(the journal does not say what it looked like)")
        record.identity = try #require(FileIdentity.of(path))
        try fixture.journal.write([record], pipelines: [])
        #expect(try run("report.pdf").status == 0)
    }

    @Test func whatHasNoOriginalOrIsNotProcessedIsRefused() throws {
        var deleted = try processed()
        deleted.original = nil
        try fixture.journal.write([deleted], pipelines: [])
        try expectRefusal("its original was deleted, or published as an output; drop it again")
        let failed = try fixture.failedJob(3, "bad.pdf")
        try fixture.journal.write([failed], pipelines: [])
        #expect(try run("bad.pdf").text.contains("'dropmill retry \(failed.id.text)' sends it in again"))
        #expect(try run("--state", "failed").status == 64)
        #expect(try run("--pipeline", "scans").text == "no processed job that matches has its original in place\n")
    }

    @Test func aCopyThatIsBeingMadeIsLeftAlone() throws {
        let record = try processed()
        var other: Tool.Output?
        let meanwhile: SendBack.Verification = { (_, _) throws(IOError) in
            other = try? run("report.pdf")
            try? Resubmission.removeLeftovers(fixture.journal, in: ["scans": scratch.path("inbox")])
            return true
        }
        var replay = try Resubmission(fixture.journal, .replay(meanwhile, again: true))
        try replay.send(record.id)
        let text = try #require(other?.text)
        #expect(text.contains("is sending it; wait until that is through"), "\(text)")
        #expect(replay.problems.map(\.message) == [])
        #expect(try scratch.tree("inbox") == ["report.pdf"])
        #expect(try scratch.text("inbox/report.pdf") == "contents of 1")
        #expect(try fixture.journal.sentIn().count == 1)
    }

    @Test func filtersTakeEachJobOnce() throws {
        let record = try processed()
        let waiting = try processed(2, "waiting.pdf")
        _ = try processed(3, "report.2.pdf", replayOf: record.id)
        var failed = try JournalFixture.job(4, .failed, named: "failed.pdf")
        failed.replayOf = waiting.id
        try fixture.journal.write([failed], pipelines: [])
        _ = try processed(5, "retried.pdf", retryOf: failed.id)
        try fixture.journal.noteReplay(of: waiting.id, as: sent(try #require(waiting.original)))
        let none = try run("--pipeline", "scans")
        #expect(none.text == "no processed job that matches has its original in place\n", "\(none.text)")
        #expect(try scratch.tree("inbox") == [])
        // What a kill cut short is not on its way.
        let half = try processed(6, "half.pdf")
        let left = try scratch.write("half", to: "inbox/.dropmill-\(half.id.text).partial")
        try fixture.journal.noteReplay(of: half.id, as: sent(left))
        #expect(try run("--pipeline", "scans").status == 0)
        #expect(try scratch.tree("inbox") == ["half.pdf"])
        #expect(try run("--pipeline", "scans").status == 1)
        #expect(try run(record.id.text).status == 0)
        #expect(try scratch.tree("inbox") == ["half.pdf", "report.pdf"])
    }

    @Test func aDryRunReportsWhatWouldBeRefused() throws {
        _ = try processed()
        let path = try #require(try processed(2, "folder").original)
        try Folder.remove(path)
        try scratch.makeFolder("processed/folder")
        let output = try run("--pipeline", "scans", "--dry-run")
        #expect(output.status == 1 && output.text.contains("1 job, 4.0 KiB: report.pdf\n"), "\(output.text)")
        #expect(output.text.contains("is a folder; copy it into the inbox by hand"), "\(output.text)")
    }

    @Test func aDryRunLeavesWhatAKillLeft() throws {
        let record = try processed()
        let left = try scratch.write("half", to: "inbox/.dropmill-\(record.id.text).partial")
        try fixture.journal.noteReplay(of: record.id, as: sent(left))
        let output = try run("--pipeline", "scans", "--dry-run")
        #expect(output.text.contains("1 job, 4.0 KiB: report.pdf\n"), "\(output.text)")
        #expect(try scratch.tree("inbox").count == 1)
        #expect(try fixture.journal.sentIn().count == 1)
    }

    @Test func whatAKillLeftGoesAtTheNextStartOrReplay() throws {
        let record = try processed()
        let left = try scratch.write("half", to: "inbox/.dropmill-\(record.id.text).partial")
        try fixture.journal.noteReplay(of: record.id, as: sent(left))
        try Resubmission.removeLeftovers(fixture.journal, in: ["other": scratch.path("inbox")])
        #expect(try scratch.tree("inbox").count == 1)
        try Resubmission.removeLeftovers(fixture.journal, in: ["scans": scratch.path("inbox")])
        #expect(try scratch.tree("inbox") == [])
        #expect(try fixture.journal.sentIn().isEmpty)
        try scratch.write("half", to: "inbox/.dropmill-\(record.id.text).partial")
        #expect(try run("report.pdf").status == 0)
        #expect(try scratch.tree("inbox") == ["report.pdf"])
        // What has its name by now is a drop.
        try Resubmission.removeLeftovers(fixture.journal, in: ["scans": scratch.path("inbox")])
        #expect(try scratch.tree("inbox") == ["report.pdf"])
        #expect(try fixture.journal.sentIn().count == 1)
    }
}
