import ArgumentParser
import Files
import Journal
import PipelineKit

/// The jobs that a verb is to change: those that are named, or those that filters choose.
struct JobSelection: ParsableArguments {
    @Argument(
        help: "Ids of jobs or their beginnings, or drops' names (for the newest job).", completion: Completion.jobs)
    var jobs: [String] = []

    @OptionGroup var filters: JobFilters

    @Option(parsing: .unconditional, help: "How many jobs at most, beginning with the oldest.")
    var limit: Int?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("How many within a time, such as 10/s or 500/h.", valueName: "rate"),
        transform: Pace.init(argument:))
    var rate: Pace?

    @Flag(help: "Only say what would be done: to how many jobs, of which size, and the first names.")
    var dryRun = false

    func validate() throws {
        if !jobs.isEmpty, !filters.isEmpty { throw ValidationError("name jobs or choose some; not both") }
        if let limit, limit < 1 { throw ValidationError("--limit must be at least 1") }
    }

    /// Whether neither jobs nor filters are given.
    var isEmpty: Bool { jobs.isEmpty && filters.isEmpty }

    /// What the filters choose among jobs in these states; nil where they can choose none.
    func query(among states: [JobRecord.State]) -> JobQuery? { filters.query.among(states) }

    /// What is said where no original of such jobs is to be had.
    func noneInPlace(_ word: String) -> String {
        let matches = jobs.isEmpty && !filters.isEmpty ? " that matches" : ""
        return "no \(word) job\(matches) has its original in place"
    }

    func limited(_ records: [JobRecord]) -> [JobRecord] { Array(records.prefix(limit ?? records.count)) }
}
