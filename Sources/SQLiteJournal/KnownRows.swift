import Journal
import PipelineKit

/// What the writing process knows of its journal, so that it need not ask: which unfinished jobs have rows, and which
/// settlements wait for the rows of their jobs. Pure.
struct KnownRows {
    private var unfinished: Set<JobID> = []
    /// The jobs of a settlement that have no rows yet.
    private var waiting: [Int64: Int] = [:]
    private var settlements: [JobID: Int64] = [:]
    private var last: Int64 = 0

    /// The number of the next settlement.
    var next: Int64 { last + 1 }

    /// Whether an unfinished job has a row.
    func hasRow(_ id: JobID) -> Bool { unfinished.contains(id) }

    /// Whether a job is known by its row or by a settlement.
    func isKnown(_ id: JobID) -> Bool { hasRow(id) || settlements[id] != nil }

    /// The settlements that are done with once these jobs, each given once, have rows.
    func settlements(doneBy jobs: [JobRecord]) -> [Int64] {
        guard !settlements.isEmpty else { return [] }
        var counts: [Int64: Int] = [:]
        for place in jobs.indices {
            if let number = settlements[jobs[place].id] { counts[number, default: 0] += 1 }
        }
        return counts.filter { waiting[$0.key] == $0.value }.map(\.key)
    }

    /// The rows of these jobs are written.
    mutating func wrote(_ jobs: [JobRecord]) {
        for place in jobs.indices {
            let id = jobs[place].id
            if jobs[place].state.isFinal { unfinished.remove(id) } else { unfinished.insert(id) }
            guard let number = settlements.removeValue(forKey: id), let count = waiting[number] else { continue }
            waiting[number] = count > 1 ? count - 1 : nil
        }
    }

    /// A settlement is written.
    mutating func wrote(settlement number: Int64, of jobs: [JobID]) {
        last = max(last, number)
        for job in jobs where settlements.updateValue(number, forKey: job) == nil {
            waiting[number, default: 0] += 1
        }
    }
}
