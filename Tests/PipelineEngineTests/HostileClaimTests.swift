import Files
import Glibc
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@testable import FolderWatch
@testable import PipelineEngine
@testable import Readiness

/// What somebody who may change the inbox can do just before a claim.
@Suite("Claims of what was exchanged") struct HostileClaimTests {
    private let scratch: ScratchFolder
    private let ids = JobIDGenerator()

    init() throws {
        scratch = try ScratchFolder()
        for folder in ["inbox", "processed", "failed"] { try scratch.makeFolder(folder) }
    }

    private func spool(_ adjust: (inout Pipeline) -> Void = { _ in }) throws -> Spool {
        var pipeline = Pipeline(
            name: "test", source: "test.yaml", inbox: scratch.path("inbox"),
            processed: .folder(scratch.path("processed")), failed: scratch.path("failed"))
        adjust(&pipeline)
        return Spool(pipeline: pipeline, work: try WorkFolder(for: pipeline))
    }

    @Test(
        "A file that was exchanged for a symbolic link or a socket just before its claim is no trouble of the folders")
    func exchanged() throws {
        let spool = try spool()
        let inbox = try OpenFile.openFolder(spool.pipeline.inbox)
        try scratch.write("1", to: "inbox/a")
        guard case .file(let fingerprint, _) = try Sample.examine("a".fileName, in: inbox) else { throw NotAName() }
        try Folder.remove(scratch.path("inbox/a"))
        try scratch.link("inbox/a", to: "/etc/passwd")
        guard
            case .stillWritten(let job) = try spool.claimAndProve(
                "a".fileName, ready: fingerprint, in: inbox, as: ids.next())
        else { throw NotAName() }
        #expect(try spool.look(at: job).sample == .refused("it is not a regular file"))
        var lateWriters = LateWriters(rule: spool.pipeline.ready)
        lateWriters.add(job)
        let turn = lateWriters.turn(spool)
        #expect(turn.error == nil)
        #expect(turn.complete.first?.failure?.code == "ready.unfit")
        #expect(lateWriters.paths.isEmpty)
    }

    /// The next job gets the folder that is left of one before, so a test may put things into it.
    private func spoolWithSpare() throws -> (spool: Spool, spare: FilePath) {
        let spool = try spool()
        let id = ids.next()
        let spare = try spool.work.makeFolder(for: id)
        spool.work.free(spare)
        return (spool, spare)
    }

    private static let ready = Fingerprint.unknown()

    @Test("A rename that was made although the answer was an error is a claim")
    func lateAnswer() throws {
        let (spool, spare) = try spoolWithSpare()
        try scratch.write(Array("content".utf8), to: spare.appending("a".fileName))
        let claim = try spool.claim(
            "a".fileName, ready: Self.ready, in: try OpenFile.openFolder(spool.pipeline.inbox), as: ids.next())
        guard case .claimed(let job) = claim else { throw NotAName() }
        #expect(try ScratchFolder.read(job.original) == Array("content".utf8))
    }

    @Test("A claim that failed removes nothing but what it noted itself")
    func nothingElse() throws {
        let (spool, spare) = try spoolWithSpare()
        try scratch.write(Array("content".utf8), to: spare.appending("late".fileName))
        let id = ids.next()
        let claim = try spool.claim(
            "a".fileName, ready: Self.ready, in: try OpenFile.openFolder(spool.pipeline.inbox),
            at: InboxFolder(["sub".fileName]), as: id)
        guard case .vanished = claim else { throw NotAName() }
        #expect(try Folder.names(in: spare).map(\.text).contains("late"))
    }

    @Test("The folder of a claim that failed goes, with what was noted in it")
    func unused() throws {
        let spool = try spool()
        let id = ids.next()
        let claim = try spool.claim(
            "a".fileName, ready: Self.ready, in: try OpenFile.openFolder(spool.pipeline.inbox),
            at: InboxFolder(["sub".fileName]), as: id, rejected: .file("test.bad", "Bad."))
        guard case .vanished = claim else { throw NotAName() }
        #expect(Folder.kind(of: spool.work.folder(id)) == nil)
    }

    @Test("A marker is not fetched through a folder that became a symbolic link")
    func markerBehindLink() throws {
        let rule = try MarkerRule(Template("{name}.done", use: .name))
        let spool = try spool { $0.ready.marker = rule }
        try scratch.write("1", to: "elsewhere/a.done")
        try scratch.link("inbox/sub", to: scratch.path("elsewhere").string)
        let id = ids.next()
        let drop = Drop(name: try "a".fileName, folders: [try "sub".fileName], size: 1, droppedAt: .now())
        let job = Job(
            id: id, pipeline: "test", drop: drop, claimedAt: id.time, folder: try spool.work.makeFolder(for: id))
        try spool.fetchMarker(of: job, isNeeded: false)
        #expect(scratch.exists("elsewhere/a.done"))
        #expect(try Spool.marker(in: job.folder) == nil)
    }

    @Test("A claimed drop that is empty by now is proved as any other, though empty files are ignored in the inbox")
    func emptied() async throws {
        let spool = try spool {
            $0.ready = ReadyRule(quiet: .milliseconds(1), empty: .ignore)
            $0.ownership = .keep
        }
        let job = try job("a", spool, isFolder: false)
        try scratch.write([UInt8](), to: job.original)
        var lateWriters = LateWriters(rule: spool.pipeline.ready)
        lateWriters.add(job)
        var complete: [Spool.Claimed] = []
        #expect(
            await eventually {
                complete += lateWriters.turn(spool).complete
                return !complete.isEmpty
            })
        #expect(complete.first?.seal != nil, "only a proof gives it one")
    }

    @Test("Who holds a claimed drop open is told")
    func held() async throws {
        let spool = try spool { $0.ready = ReadyRule(quiet: .milliseconds(1)) }
        let job = try job("a", spool, isFolder: false)
        let writer = try OpenFile.open(job.original, O_WRONLY | O_CREAT, mode: 0o600)
        try writer.write([1])
        var lateWriters = LateWriters(rule: spool.pipeline.ready)
        lateWriters.add(job)
        var held: [Job] = []
        #expect(
            await eventually {
                held += lateWriters.turn(spool).held.map(\.0)
                return !held.isEmpty
            })
        #expect(held.first?.id == job.id)
        try writer.close()
    }

    @Test("A claimed folder is left to be looked at elsewhere, and such a look ends when it is called off")
    func elsewhere() throws {
        let spool = try spool { $0.ready.unit = .folder }
        let job = try job("a", spool, isFolder: true)
        try Folder.make(job.original)
        for number in 0..<2000 {
            try scratch.makeFolder("\(job.original.string.dropFirst(scratch.path.string.utf8.count + 1))/\(number)")
        }
        var lateWriters = LateWriters(rule: spool.pipeline.ready)
        lateWriters.add(job)
        let turn = lateWriters.turn(spool)
        #expect(turn.folders.map(\.id) == [job.id])
        #expect(lateWriters.gate.nextDue == nil, "it is not asked for again until it is answered")
        #expect(throws: IOError.self) { try spool.breakingOff { @Sendable _ in true }.look(at: job) }
        let look = LateWriters.look(at: job, spool)
        var answered = LateWriters.Turn()
        #expect(lateWriters.looked(at: job, look, &answered) == nil)
        #expect(lateWriters.gate.nextDue != nil)
    }

    private func job(_ name: String, _ spool: Spool, isFolder: Bool) throws -> Job {
        let id = ids.next()
        let drop = Drop(name: try name.fileName, size: 1, droppedAt: .now(), isFolder: isFolder)
        return Job(id: id, pipeline: "test", drop: drop, claimedAt: id.time, folder: try spool.work.makeFolder(for: id))
    }
}
