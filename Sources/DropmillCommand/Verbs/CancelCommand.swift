import ArgumentParser
import Journal
import PipelineKit

/// `dropmill cancel`: jobs that nobody wants any more.
struct CancelCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel",
        abstract: "Call jobs off: they settle into 'failed'.",
        discussion: """
            A running stage is stopped first. What is being settled already goes on to its end. Where no daemon runs \
            it is put on record, and the next start that loads their pipelines settles them. Exits with status 1 if a \
            job could not be called off, or none was found.

            Example: what of a wrong delivery is not through yet, first to see, then to do:

              dropmill cancel --pipeline scans --name 'batch-17*' --dry-run
              dropmill cancel --pipeline scans --name 'batch-17*'
            """)

    @OptionGroup var selection: JobSelection
    @OptionGroup var folder: StateFolderOption

    /// So many that a request stays short.
    private static let most = 1000

    func validate() throws {
        if selection.isEmpty { throw ValidationError("name jobs, or choose some, such as by --pipeline") }
    }

    func run() throws {
        let (found, problems) = try folder.folder.read { journal throws(JournalError) in try find(in: journal) }
        let records = selection.limited(found)
        for problem in problems { StandardError.print("error: \(problem)") }
        if records.isEmpty {
            if problems.isEmpty { StandardError.print("no unfinished job matches") }
            throw ExitStatus.failure
        }
        if selection.dryRun {
            print(JobSelection.text(of: records))
            return
        }
        var isComplete = problems.isEmpty
        var pace = selection.rate
        let most = selection.rate == nil ? Self.most : 1
        for start in stride(from: 0, to: records.count, by: most) {
            pace?.wait()
            let ids = records[start..<min(start + most, records.count)].map(\.id)
            let answer = try Cancelling.cancel(ids, in: folder.folder)
            for result in answer.results where result.isCancelled { print("\(result.job) \(result.text)") }
            for result in answer.results where !result.isCancelled {
                isComplete = false
                StandardError.print("error: \(result.job): \(result.text)")
            }
            if let problem = answer.problem {
                isComplete = false
                StandardError.print("error: \(problem)")
            }
        }
        if !isComplete { throw ExitStatus.failure }
    }

    private func find(in journal: any Journal) throws(JournalError) -> (records: [JobRecord], problems: [String]) {
        if selection.jobs.isEmpty {
            guard let query = selection.query(among: JobRecord.State.unfinished) else { return ([], []) }
            return (try journal.jobs(query).reversed(), [])
        }
        var records: [JobRecord] = []
        var problems: [String] = []
        for text in selection.jobs {
            switch try JobFinder.find(text, in: journal) {
            case .nothing(let problem): problems.append(problem)
            case .found(let record) where record.state.isFinal:
                problems.append("\(record.id.text) is over: \(record.state.rawValue)")
            case .found(let record): records.append(record)
            }
        }
        return (records, problems)
    }
}
