import Journal
import PipelineKit
import TestSupport

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
