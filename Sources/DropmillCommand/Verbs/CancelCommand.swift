import ArgumentParser
import Files
import Journal
import PipelineKit

/// `dropmill cancel`: jobs that nobody wants any more.
struct CancelCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel",
        abstract: "Call jobs off: they settle into 'failed'.",
        discussion: """
            A running stage is stopped first. What is being settled already goes on to its end. The running daemon \
            does it. Exits with status 1 if a job could not be called off, or none was found.

            Example: what of a wrong delivery is not through yet, first to see, then to do:

              dropmill cancel --pipeline scans --name 'batch-17*' --dry-run
              dropmill cancel --pipeline scans --name 'batch-17*'
            """)

    @Argument(help: "Ids of jobs or their beginnings, or drops' names (for the newest job).")
    var jobs: [String] = []

    @OptionGroup var filters: JobFilters
    @OptionGroup var folder: StateFolderOption

    @Option(help: "How many jobs to cancel at most.")
    var limit: Int?

    @Flag(help: "Only say what would be cancelled: how many, their size and the first names.")
    var dryRun = false

    func validate() throws {
        if jobs.isEmpty, filters.isEmpty { throw ValidationError("name jobs, or choose some, such as by --pipeline") }
        if !jobs.isEmpty, !filters.isEmpty { throw ValidationError("name jobs or choose some; not both") }
        if let limit, limit < 1 { throw ValidationError("--limit must be at least 1") }
    }

    func run() throws {
        let (records, problems) = try folder.folder.read { journal throws(JournalError) in try found(in: journal) }
        for problem in problems { StandardError.print("error: \(problem)") }
        if records.isEmpty {
            if problems.isEmpty { StandardError.print("no unfinished job matches") }
            throw ExitStatus.failure
        }
        if dryRun { return Self.tell(records) }
        var isComplete = problems.isEmpty
        do throws(ControlClient.Problem) {
            // So many that a request stays short.
            for start in stride(from: 0, to: records.count, by: 1000) {
                let ids = records[start..<min(start + 1000, records.count)].map(\.id.text)
                let answer = try DaemonRequest.ask(CancelVerb.self, .init(jobs: ids), in: folder.folder)
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
        } catch {
            StandardError.print("error: \(error.message)")
            throw ExitStatus.failure
        }
        if !isComplete { throw ExitStatus.failure }
    }

    private func found(in journal: any Journal) throws(JournalError) -> (records: [JobRecord], problems: [String]) {
        if jobs.isEmpty {
            var query = filters.query
            if query.states.isEmpty { query.states = JobRecord.State.allCases.filter { !$0.isFinal } }
            query.limit = limit ?? query.limit
            return (try journal.jobs(query).filter { !$0.state.isFinal }, [])
        }
        var records: [JobRecord] = []
        var problems: [String] = []
        for text in jobs {
            switch try JobFinder.find(text, in: journal) {
            case .nothing(let problem): problems.append(problem)
            case .found(let record) where record.state.isFinal:
                problems.append("\(record.id.text) is over: \(record.state.rawValue)")
            case .found(let record): records.append(record)
            }
        }
        return (Array(records.prefix(limit ?? records.count)), problems)
    }

    /// `3 jobs, 12.4 MiB: a.pdf, b.pdf, c.pdf`
    private static func tell(_ records: [JobRecord]) {
        let size = records.reduce(Int64(0)) { $0.addingSaturated($1.drop.size) }
        let names = records.prefix(5).map(\.drop.name.text).joined(separator: ", ") + (records.count > 5 ? ", …" : "")
        print("\(records.count) job\(records.count == 1 ? "" : "s"), \(ByteSize(bytes: size)): \(names)")
    }
}
