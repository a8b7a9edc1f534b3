import ArgumentParser
import Control
import Files
import Glibc
import Journal
import PipelineKit

/// How `cancel` and `release` go through the unfinished jobs that they are to change.
struct UnfinishedJobs {
    /// What became of one.
    typealias Result = (job: String, isDone: Bool, text: String)

    let selection: JobSelection
    let folder: StateFolder
    /// The node whose jobs alone are meant; nil: all jobs.
    let node: String?
    let kind: PreviewVerb.Change
    /// How many are changed by one request, so that it stays short.
    let most: Int

    /// `change`: changes some of them; with what else there is to be said of that.
    func carryOut(
        _ change: ([JobID]) throws(ExitCode) -> (results: [Result], problem: String?)
    ) throws(ExitCode) {
        let (found, problems) = try folder.read { journal throws(JournalError) in
            try atNode(try find(in: journal), in: journal)
        }
        let records = selection.limited(found)
        for problem in problems { StandardError.print("error: \(problem)") }
        if records.isEmpty {
            if problems.isEmpty { StandardError.print("no unfinished job matches") }
            throw ExitStatus.failure
        }
        if selection.dryRun {
            try Preview.tell(
                records, try Preview.refusals(of: records, kind, in: folder, most: most))
            if !problems.isEmpty { throw ExitStatus.failure }
            return
        }
        var isComplete = problems.isEmpty
        var pace = selection.rate
        let most = selection.rate == nil ? most : 1
        let interruption = Interruption()
        for start in stride(from: 0, to: records.count, by: most) {
            if interruption.comes(within: pace?.rest() ?? .zero) {
                let left = records.count - start
                StandardError.print("error: it was interrupted; \(left == 1 ? "1 job is" : "\(left) jobs are") left")
                isComplete = false
                break
            }
            let answer = try change(records[start..<min(start + most, records.count)].map(\.id))
            for result in answer.results where result.isDone { print("\(result.job) \(result.text)") }
            for result in answer.results where !result.isDone {
                isComplete = false
                StandardError.print("error: \(result.job): \(result.text)")
            }
            if let problem = answer.problem {
                isComplete = false
                StandardError.print("error: \(problem)")
            }
            // At a slow pace the next one may be an hour away.
            fflush(nil)
        }
        if !isComplete { throw ExitStatus.failure }
    }

    /// Those that the node has which is meant.
    private func atNode(
        _ all: (records: [JobRecord], problems: [String]), in journal: any JournalReading
    ) throws(JournalError) -> (records: [JobRecord], problems: [String]) {
        guard let node, let shared = journal as? any SharedJournal else { return all }
        let names = try shared.names()
        guard names.contains(node) else {
            let hint = Suggestion.hint(for: node, orListing: names.sorted())
            return ([], ["there is no node '\(EscapedText.of(node))'\(hint)"])
        }
        let own = Set(try shared.nodes().filter { $0.name == node }.map(\.incarnation))
        let holders = try shared.holders(of: all.records.map(\.id))
        return (all.records.filter { holders[$0.id].map(own.contains) ?? false }, all.problems)
    }

    private func find(in journal: any JournalReading) throws(JournalError) -> (records: [JobRecord], problems: [String])
    {
        if selection.jobs.isEmpty {
            guard let query = selection.query(among: JobRecord.State.unfinished) else { return ([], []) }
            let found = try journal.jobs(query)
            return (
                found.reversed(), found.isEmpty ? [try selection.filters.strange(in: journal)].compactMap(\.self) : []
            )
        }
        var records: [JobRecord] = []
        var problems: [String] = []
        for text in selection.jobs {
            switch try JobFinder.find(text, in: journal) {
            case .nothing(let problem): problems.append(problem)
            case .found(let record) where record.state.isFinal:
                problems.append("\(record.id.text) is over: \(record.word)")
            case .found(let record): records.append(record)
            }
        }
        return (records, problems)
    }
}
