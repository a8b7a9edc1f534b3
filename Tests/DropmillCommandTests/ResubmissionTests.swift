import Dispatch
import Files
import Glibc
import PipelineKit
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Control
@testable import DropmillCommand
@testable import Journal
@testable import PipelineEngine

@Suite struct ResubmissionTests {
    private let fixture: JournalFixture
    private var scratch: ScratchFolder { fixture.scratch }

    init() throws { fixture = try JournalFixture() }

    private func send(_ names: [String]) throws -> Resubmission {
        var resubmission = try Resubmission(fixture.journal)
        for record in try resubmission.find(names) { resubmission.sendIn(record) }
        return resubmission
    }

    /// What a daemon writes that claims the file.
    private func claim(_ number: Int, _ path: FilePath) throws -> JobRecord {
        var status = stat()
        try #require(path.withPlatformString { lstat($0, &status) } == 0)
        var record = try JournalFixture.job(number)
        record.identity = FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
        record.drop = Drop(name: record.drop.name, size: Int64(status.st_size), droppedAt: record.drop.droppedAt)
        record.modified = FileTime(status.st_mtim)
        try fixture.journal.write([record], pipelines: [])
        return try #require(try fixture.journal.job(record.id))
    }

    @Test func anOriginalGoesBackAndIsKnownAgain() throws {
        let failed = try fixture.failedJob(1)
        try fixture.journal.write([failed], pipelines: [try fixture.pipeline()])
        let result = try send([failed.id.text, "report.pdf"])
        #expect(result.problems.isEmpty)
        #expect(result.sent.map(\.path) == [scratch.path("inbox/report.pdf")])
        #expect(try scratch.text("inbox/report.pdf") == "contents of 1")
        #expect(try scratch.tree("failed") == [])
        #expect(try claim(2, scratch.path("inbox/report.pdf")).retryOf == failed.id)
    }

    @Test func ofSeveralAtOnceOneSendsAndIsKnownAgain() throws {
        let place = scratch.path("inbox/report.pdf")
        for number in 1...40 {
            let failed = try fixture.failedJob(number)
            try fixture.journal.write([failed], pipelines: [try fixture.pipeline()])
            let sent = Mutex(0)
            DispatchQueue.concurrentPerform(iterations: 4) { [fixture] _ in
                guard var one = try? Resubmission(fixture.journal), let found = try? one.find([failed.id.text]) else {
                    return
                }
                for record in found { one.sendIn(record) }
                sent.withLock { [one] in $0 += one.sent.count }
            }
            #expect(sent.withLock { $0 } == 1)
            #expect(try claim(1000 + number, place).retryOf == failed.id)
            try Folder.remove(place)
        }
    }

    @Test func takenNamesAreNumbered() throws {
        let failed = try fixture.failedJob(1)
        try fixture.journal.write([failed], pipelines: [try fixture.pipeline()])
        try scratch.write("another", to: "inbox/report.pdf")
        #expect(try send([failed.id.text]).sent.map(\.path) == [scratch.path("inbox/report.2.pdf")])
        #expect(try scratch.text("inbox/report.pdf") == "another")
        #expect(try scratch.text("inbox/report.2.pdf") == "contents of 1")
    }

    @Test(
        "Across file systems a whole copy gets the name",
        .enabled(if: TemporaryMount.isPossible, "needs root to mount"), arguments: [false, true])
    func acrossFileSystems(bind: Bool) throws {
        let failed = try fixture.failedJob(1)
        var pipeline = try fixture.pipeline()
        let elsewhere = try scratch.makeFolder("elsewhere")
        let mount =
            try bind
            ? TemporaryMount(bind: elsewhere, at: scratch.path("other"))
            : TemporaryMount(tmpfs: "size=4m", at: scratch.path("other"))
        pipeline.inbox = mount.path
        try fixture.journal.write([failed], pipelines: [pipeline])
        var status = stat()
        try #require(scratch.path("failed/report.pdf").withPlatformString { lstat($0, &status) } == 0)
        try scratch.write("left by a try that was cut short", to: "other/.dropmill-\(failed.id.text).partial")
        let result = try send([failed.id.text])
        #expect(result.problems.map(\.message) == [])
        #expect(try scratch.tree("failed") == [])
        #expect(try scratch.tree("other") == ["report.pdf"])
        #expect(try scratch.text("other/report.pdf") == "contents of 1")
        #expect(try claim(2, scratch.path("other/report.pdf")).retryOf == failed.id)
        // The copied original's inode is free for others.
        var other = try JournalFixture.job(3)
        other.identity = FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
        try fixture.journal.write([other], pipelines: [])
        #expect(try fixture.journal.job(other.id)?.retryOf == nil)
    }

    @Test(
        "A copy that waits is not sent again where a kill came before the original was removed",
        .enabled(if: TemporaryMount.isPossible, "needs root to mount"))
    func afterAKill() throws {
        let failed = try fixture.failedJob(1)
        var pipeline = try fixture.pipeline()
        let mount = try TemporaryMount(tmpfs: "size=4m", at: scratch.path("other"))
        pipeline.inbox = mount.path
        try fixture.journal.write([failed], pipelines: [pipeline])
        try scratch.write("another", to: "other/report.pdf")
        #expect(try send([failed.id.text]).problems.map(\.message) == [])
        _ = try fixture.failedJob(1)
        #expect(try send([failed.id.text]).sent.map(\.path) == [scratch.path("other/report.2.pdf")])
        #expect(try scratch.tree("other") == ["report.2.pdf", "report.pdf"])
        #expect(try scratch.tree("failed") == [])
        #expect(try claim(2, scratch.path("other/report.2.pdf")).retryOf == failed.id)
    }

    @Test func whatIsOfAPipelineWithAnotherNameNowGoesIntoItsInbox() throws {
        let failed = try fixture.failedJob(1)
        try fixture.journal.write([failed], pipelines: [try fixture.pipeline()])
        let inbox = try scratch.makeFolder("other")
        var heir = Pipeline(
            name: "heir", source: "heir.yaml", inbox: inbox, processed: .delete, failed: scratch.path("failed"))
        heir.formerly = "scans"
        var resubmission = try Resubmission(fixture.journal, loaded: [heir])
        try resubmission.send(failed)
        #expect(resubmission.sent.map(\.path) == [scratch.path("other/report.pdf")])
    }

    @Test func whatCannotBeSentInSaysWhy() throws {
        let gone = try fixture.failedJob(1, "gone.pdf")
        try Folder.remove(try #require(gone.original))
        let done = try JournalFixture.job(2, .processed, named: "done.pdf")
        let busy = try JournalFixture.job(3, .running, named: "busy.pdf")
        var orphan = try fixture.failedJob(4, "orphan.pdf")
        orphan.pipeline = "other"
        let again = try fixture.failedJob(5, "again.pdf")
        var next = try JournalFixture.job(6, named: "other.pdf")
        next.retryOf = again.id
        try fixture.journal.write([gone, done, busy, orphan, again, next], pipelines: [try fixture.pipeline()])
        let result = try send(["gone.pdf", "done.pdf", "busy.pdf", "orphan.pdf", "again.pdf", "nothing.pdf"])
        #expect(result.sent.isEmpty)
        let path = scratch.path("failed/gone.pdf").string
        #expect(
            result.problems.map(\.message) == [
                "it was processed; 'dropmill replay \(done.id.text)' sends a copy in",
                "it is not finished; 'dropmill show \(busy.id.text)' shows how far it is",
                "it was already retried, as \(next.id.text), which is queued",
                "no job has the id or name 'nothing.pdf'; 'dropmill jobs' lists all jobs",
                "cannot examine '\(path)': No such file or directory; it was already moved or sent",
                "the journal does not know the pipeline 'other'; run it once, or move the file yourself",
            ])
        #expect(result.problems.first?.subject == "\(done.id.text) (done.pdf)")
        #expect(try scratch.tree("inbox") == [])
    }

    @Test func theNewestJobOwnsWhatLiesThere() throws {
        let old = try fixture.failedJob(1)
        let new = try fixture.failedJob(2)
        try fixture.journal.write([old, new], pipelines: [try fixture.pipeline()])
        let message = "the file in its place is now the original of \(new.id.text); retry that job"
        #expect(try send([old.id.text]).problems.map(\.message) == [message])
        #expect(try send([new.id.text]).sent.map(\.record.id) == [new.id])
    }

    @Test func aFilterThatHidesTheNewestSendsNothingInItsStead() throws {
        let old = try fixture.failedJob(1)
        var new = try fixture.failedJob(2)
        new.pipeline = "other"
        try fixture.journal.write([old, new], pipelines: [try fixture.pipeline(), try fixture.pipeline("other")])
        var query = JobQuery()
        query.pipeline = "scans"
        var resubmission = try Resubmission(fixture.journal)
        #expect(try resubmission.all(query).isEmpty)
        query.pipeline = "other"
        #expect(try resubmission.all(query).map(\.id) == [new.id])
    }

    /// As the verb and the daemon send them, which may take their time over it.
    @Test func whatBecameOfAJobSinceItWasFoundCounts() throws {
        let (first, second) = (try fixture.failedJob(1, "a"), try fixture.failedJob(2, "b"))
        try fixture.journal.write([first, second], pipelines: [try fixture.pipeline()])
        let order = SendingOrder(all: true)
        var sending = try SendingRun(order, try order.query(), with: try Resubmission(fixture.journal))
        #expect(Array(sending.rest) == [first.id, second.id])
        try sending.goOn(1)
        var next = try JournalFixture.job(3, named: "b")
        next.retryOf = second.id
        try fixture.journal.write([next], pipelines: [])
        try sending.goOn(1)
        let results = sending.results()
        #expect(results.filter(\.isDone).map(\.job) == [first.id.text])
        let text = results.first { !$0.isDone }?.text ?? ""
        #expect(text.contains("it was already retried, as \(next.id.text)"), "\(text)")
        #expect(try scratch.tree("inbox") == ["a"])
    }

    @Test func allThatFailedIsSentInOldestFirst() throws {
        let pipeline = try fixture.pipeline()
        let records = [
            try fixture.failedJob(1, "a"), try fixture.failedJob(2, "b"), try fixture.failedJob(3, "gone"),
            try JournalFixture.job(4, .processed, named: "c"), try fixture.failedJob(5, "copied"),
        ]
        var next = try JournalFixture.job(6, .processed, named: "copied")
        next.retryOf = records[4].id
        try Folder.remove(scratch.path("failed/gone"))
        try fixture.journal.write(records + [next], pipelines: [pipeline])
        var none = try Resubmission(fixture.journal)
        var query = JobQuery()
        query.pipeline = "scan"
        #expect(try none.all(query).isEmpty)
        #expect(none.problems.map(\.message) == ["unknown pipeline; did you mean 'scans'?"])
        var all = try Resubmission(fixture.journal)
        for record in try all.all(JobQuery()) { all.sendIn(record) }
        #expect(all.sent.map(\.record.drop.name.text) == ["a", "b"])
        #expect(all.problems.isEmpty)
        #expect(try scratch.tree("inbox") == ["a", "b"])
        query.pipeline = "scans"
        #expect(try all.all(query).isEmpty)
    }

    @Test func aMissingInboxLeavesTheOriginalInPlace() throws {
        let failed = try fixture.failedJob(1)
        try fixture.journal.write([failed], pipelines: [try fixture.pipeline()])
        try Folder.remove(scratch.path("inbox"))
        let problem = try #require(try send([failed.id.text]).problems.first)
        #expect(problem.message.hasSuffix("No such file or directory; create the folder again"))
        // It did not come: whatever is claimed as that inode is something else.
        #expect(try claim(2, scratch.path("failed/report.pdf")).retryOf == nil)
        #expect(try scratch.tree("failed") == ["report.pdf", "report.pdf.error.json"])
    }

    @Test func programsReadBothLists() throws {
        let failed = try fixture.failedJob(1)
        try fixture.journal.write([failed], pipelines: [try fixture.pipeline()])
        let path = scratch.path("inbox/report.pdf").string
        let output = try Tool(DropmillBinary.path).run(
            ["retry", failed.id.text, "x", "--json", "--state-dir", "state"], in: scratch.path)
        #expect(output.status == 1)
        #expect(
            output.text == #"""
                {"sent":[{"id":"\#(failed.id.text)","pipeline":"scans",\#
                "name":"report.pdf","path":"\#(path)"}],"problems":[{"job":"x","message":"no job has the id or \#
                name 'x'; 'dropmill jobs' lists all jobs"}]}

                """#)
    }
}

extension Resubmission {
    fileprivate mutating func all(_ query: JobQuery) throws -> [JobRecord] {
        var found: [JobRecord] = []
        try find(query) { record in
            found.append(record)
            return true
        }
        return found
    }
}
