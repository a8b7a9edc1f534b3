import Files
import PipelineKit
import SystemPackage
import TestSupport

@testable import Journal
@testable import SQLiteJournal

/// A journal of a test's own, and jobs to put into it.
struct JournalFixture {
    let scratch: ScratchFolder
    let journal: SQLiteJournal

    /// What 12:00 is to the jobs below.
    static let noon = Timestamp(seconds: 1_772_366_400, nanoseconds: 0)

    init() throws {
        scratch = try ScratchFolder()
        let state = try scratch.makeFolder("state")
        journal = try SQLiteJournal.open(writing: state, durable: false)
    }

    var state: FilePath { scratch.path("state") }

    /// So many seconds after 12:00.
    static func at(_ seconds: Int) -> Timestamp {
        Timestamp(nanoseconds: noon.nanoseconds + Int64(seconds) * 1_000_000_000)
    }

    /// The n-th job, claimed n seconds after 12:00.
    static func job(
        _ number: Int, _ state: JobRecord.State = .queued, named name: String = "report.pdf",
        pipeline: String = "scans", stage: Int = 0
    ) throws -> JobRecord {
        guard let name = FileName(name) else { throw IOError("name", FilePath(name), .invalidArgument) }
        let drop = Drop(name: name, size: 4096, droppedAt: at(number - 1))
        let job = Job(id: id(number), pipeline: pipeline, drop: drop, claimedAt: at(number), folder: "/work")
        var record = JobRecord(
            claimed: job, identity: FileIdentity(device: 1, inode: UInt64(number)), definition: "d")
        record.state = state
        record.stage = stage
        if state.isFinal { record.finishedAt = at(number + 2) }
        if state == .failed {
            record.failure = .file(
                "archive.damaged", "The archive is damaged.", remedy: "Send it again.", detail: "CRC")
            record.failedStage = "unpack"
        }
        return record
    }

    /// The n-th job's id.
    static func id(_ number: Int) -> JobID {
        JobIDGenerator().next(at: at(number))
    }

    /// A pipeline whose folders lie in the scratch folder.
    func pipeline(_ name: String = "scans", waiting: Int = 0, paused: Failure? = nil) throws -> PipelineRecord {
        PipelineRecord(
            name: name, inbox: try scratch.makeFolder("inbox"), failed: try scratch.makeFolder("failed"),
            stages: ["unpack", "checksum", "move"], waiting: waiting, paused: paused,
            pausedSince: paused == nil ? nil : Self.at(30), updatedAt: Self.at(40))
    }

    /// A failed job whose original lies in the failed folder, with its report.
    func failedJob(_ number: Int, _ name: String = "report.pdf") throws -> JobRecord {
        var record = try Self.job(number, .failed, named: name)
        record.original = try scratch.write("contents of \(number)", to: "failed/\(name)")
        try scratch.write("{}", to: "failed/\(name).error.json")
        return record
    }
}
