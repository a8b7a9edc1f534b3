import PipelineEngine
import PipelineKit
import Testing

@testable import dropmill

@Suite struct StatusTests {
    private let fixture: JournalFixture

    init() throws { fixture = try JournalFixture() }

    private func fill() throws {
        _ = try fixture.journal.beginRun(RunRecord(boot: "b", process: 42, startedAt: JournalFixture.noon))
        let failure = StageFailure(
            .environment, code: "io.write", summary: "There is no space.", remedy: "Free some.")
        try fixture.journal.write(
            [
                try JournalFixture.job(1, .waiting, stage: 1), try JournalFixture.job(2, .running, stage: 0),
                try JournalFixture.job(3, .running, stage: 1), try JournalFixture.job(4, .deferred, stage: 2),
                try JournalFixture.job(5, .settling, stage: 3), try JournalFixture.job(6, .processed),
                try JournalFixture.job(7, .failed), try JournalFixture.job(8, .vanished),
                try JournalFixture.job(9, .processed, pipeline: "gone"),
            ],
            pipelines: [try fixture.pipeline(waiting: 12, paused: failure), try fixture.pipeline("quiet")])
    }

    @Test func peopleReadATable() throws {
        try fill()
        let report = try StatusReport(fixture.journal, isRunning: true)
        let (start, pause) = (JournalFixture.noon.localText, JournalFixture.at(30).localText)
        #expect(
            report.lines(now: JournalFixture.at(90)) == [
                "running since \(start) (1 min 30 s), process 42",
                "",
                "PIPELINE  WAITING  ACTIVE  DEFERRED  SETTLING  DONE  FAILED",
                "gone            ?       0         0         0     1       0",
                "  this pipeline is not among those that last ran",
                "quiet           0       0         0         0     0       0",
                "scans          12       3         1         1     1       1",
                "  active: unpack 1, checksum 2",
                "  vanished: 1",
                "  paused since \(pause) (1 min): There is no space.",
                "  Free some.",
            ])
    }

    @Test func programsReadStableKeys() throws {
        try fill()
        let report = try StatusReport(fixture.journal, isRunning: true)
        let scans = try #require(report.rows.last?.record)
        #expect(
            report.json == #"""
                {"daemon":{"running":true,"process":42,"started_at":"2026-03-01T12:00:00.000Z"},\#
                "pipelines":[{"name":"gone","active":0,"stages":[],"deferred":0,"settling":0,"processed":1,\#
                "failed":0,"vanished":0},{"name":"quiet","inbox":"\#(scans.inbox.string)","waiting":0,"active":0,\#
                "stages":[],"deferred":0,"settling":0,"processed":0,"failed":0,"vanished":0,"paused":false,\#
                "updated_at":"2026-03-01T12:00:40.000Z"},{"name":"scans","inbox":"\#(scans.inbox.string)",\#
                "waiting":12,"active":3,"stages":[{"kind":"unpack","active":1},{"kind":"checksum","active":2}],\#
                "deferred":1,"settling":1,"processed":1,"failed":1,"vanished":1,"paused":true,\#
                "paused_since":"2026-03-01T12:00:30.000Z","failure":{"class":"environment","code":"io.write",\#
                "summary":"There is no space.","remedy":"Free some.","detail":""},\#
                "updated_at":"2026-03-01T12:00:40.000Z"}]}
                """#)
    }

    @Test func theDaemonIsToldOf() throws {
        func headline(isRunning: Bool) throws -> String? {
            try StatusReport(fixture.journal, isRunning: isRunning).lines(now: JournalFixture.at(60)).first
        }
        #expect(try headline(isRunning: false) == "no daemon is running")
        _ = try fixture.journal.beginRun(RunRecord(boot: "b", process: 42, startedAt: JournalFixture.noon))
        #expect(try headline(isRunning: true)?.hasPrefix("running since") == true)
        #expect(try headline(isRunning: false)?.contains("was killed or crashed") == true)
        try fixture.journal.endRun()
        #expect(try headline(isRunning: false)?.hasPrefix("no daemon is running; the last one stopped at") == true)
    }

    @Test func theLockIsSeenAndLeftAlone() throws {
        let folder = StateFolder(given: fixture.state.string)
        #expect(try !folder.isHeld())
        let lock = try FolderLock(fixture.state, describedAs: "the state folder")
        #expect(try folder.isHeld())
        lock.release()
        #expect(try !folder.isHeld())
        _ = try FolderLock(fixture.state, describedAs: "the state folder")
    }
}
