import Files
import PipelineKit
import TestSupport
import Testing

@testable import Journal
@testable import PipelineEngine
@testable import SQLiteJournal

extension EngineHarness {
    /// What it warned of.
    var warnings: [String] {
        events.compactMap { event in
            switch event {
            case .warning(_, let message), .trouble(let message): message
            default: nil
            }
        }
    }

    /// The jobs that a stage has begun with.
    var started: [JobID] {
        events.compactMap { if case .stageStarted(let job, _) = $0 { job.id } else { nil } }
    }

    /// Where the journal has its work folder.
    func place() throws -> WorkPlace? {
        let journal = try SQLiteJournal.open(reading: scratch.path("state"))
        defer { journal.close() }
        return try journal.pipelines().first { $0.name == pipeline.name }?.works.first
    }

    /// A job of a run that was killed, in its first stage.
    func leave(_ id: JobID, _ name: String, recoveries: Int) throws {
        let work = try WorkFolder(for: pipeline)
        let drop = Drop(name: try name.fileName, size: 1, droppedAt: id.time)
        let job = Job(id: id, pipeline: pipeline.name, drop: drop, claimedAt: id.time, folder: work.folder(id))
        let place = WorkPlace(path: work.path, beside: pipeline.inbox)
        work.release()
        try scratch.write([1], to: job.original)
        let identity = try #require(FileIdentity.of(job.original))
        var record = JobRecord(claimed: job, identity: identity, definition: pipeline.definition)
        (record.state, record.recoveries) = (.running, recoveries)
        try Folder.make(scratch.path("state"), mode: 0o700)
        let journal = try SQLiteJournal.open(writing: scratch.path("state"), durable: false)
        defer { journal.close() }
        _ = try journal.beginRun(RunRecord(boot: "b", process: 1, startedAt: id.time))
        try journal.write([record], pipelines: [try #require(pipeline.record(works: [place], after: nil))])
    }

    /// The jobs that it claimed.
    var claimed: [Job] {
        events.compactMap { if case .claimed(let job, _) = $0 { job } else { nil } }
    }
}

extension ScratchFolder {
    /// How many jobs of an engine in it are in which state, by its journal.
    func jobStates() throws -> [JobRecord.State: Int] {
        let journal = try SQLiteJournal.open(reading: path("state"))
        defer { journal.close() }
        return Dictionary(grouping: try journal.jobs(JobQuery()), by: \.state).mapValues(\.count)
    }
}
