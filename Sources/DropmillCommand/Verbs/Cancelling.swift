import ArgumentParser
import Control
import Files
import Glibc
import Journal
import PipelineEngine
import PipelineKit

/// How `cancel` is carried out: by the running daemon, or the nodes that have the jobs; where no daemon runs it is put
/// on record, and the next start settles what was cancelled.
enum Cancelling {
    static func cancel(_ ids: [JobID], in folder: StateFolder) throws(ExitCode) -> CancelVerb.Answer {
        guard folder.shared == nil else {
            let (answers, left) = try folder.askingNodes { asking throws(JournalError) in
                try asking.ask(CancelVerb.self, of: ids) { .init(jobs: $0.map(\.text)) }
            }
            return .init(
                results: answers.flatMap(\.results)
                    + left.map { .init(job: $0.id.text, isCancelled: false, text: $0.reason) },
                problem: answers.compactMap(\.problem).first)
        }
        return try DaemonRequest.ask(CancelVerb.self, .init(jobs: ids.map(\.text)), in: folder) {
            journal throws(JournalError) in
            .success(.init(results: try record(ids, in: journal, by: AccountName.user(geteuid()), at: .now())))
        }
    }

    /// In a journal that nobody else writes to.
    static func record(
        _ ids: [JobID], in journal: any Journal, by person: String, at now: Timestamp
    ) throws(JournalError) -> [CancelVerb.Result] {
        var results: [CancelVerb.Result] = []
        var changed: [JobRecord] = []
        for id in ids {
            guard var record = try journal.job(id) else {
                results.append(.init(id, .absent("no such job is on record")))
                continue
            }
            let outcome = record.callOff(by: person, at: now)
            if outcome.isCalledOff { changed.append(record) }
            results.append(.init(id, outcome))
        }
        try journal.write(changed, pipelines: [])
        return results
    }
}
