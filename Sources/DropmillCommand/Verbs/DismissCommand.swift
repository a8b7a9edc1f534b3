import ArgumentParser
import Control
import Files
import Glibc
import Journal
import PipelineKit

/// `dropmill dismiss`: failures that nobody will retry.
struct DismissCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dismiss",
        abstract: "Take failed jobs that nobody will retry out of the count of failures.",
        discussion: """
            They stay failed, and their originals stay where they are. 'retry' sends in what it is given by name, and \
            passes over it where it is given filters. Where no daemon runs this does it. Exits with status 1 if a job \
            could not be dismissed, or none was found.

            Example: what was infected and is dealt with, first to see, then to do:

              dropmill dismiss --code scan.infected --pipeline scans --dry-run
              dropmill dismiss --code scan.infected --pipeline scans
            """)

    @Argument(
        help: "Ids of jobs or their beginnings, or drops' names (for the newest job).", completion: Completion.jobs)
    var jobs: [String] = []

    @OptionGroup var filters: JobFilters

    @Flag(help: "Only say what would be done: to how many jobs, of which size, and the first names.")
    var dryRun = false

    @OptionGroup var folder: StateFolderOption

    func validate() throws {
        if jobs.isEmpty == filters.isEmpty {
            throw ValidationError("name jobs, or choose some, such as by --code; not both")
        }
        if filters.query.words.contains(where: { $0 != JobRecord.State.failed.rawValue }) {
            throw ValidationError("only failed jobs can be dismissed")
        }
    }

    func run() throws {
        let order = SendingOrder(jobs: jobs, filters)
        if dryRun { return try tell(order) }
        var (count, isComplete) = (0, true)
        while true {
            let answer = try DaemonRequest.ask(DismissVerb.self, order, in: folder.folder) {
                journal throws(JournalError) in
                try DismissVerb.carryOut(order, in: journal, by: AccountName.user(geteuid()))
            }
            for result in answer.results where result.isDismissed { print("\(result.job) \(result.text)") }
            for result in answer.results where !result.isDismissed {
                isComplete = false
                StandardError.print("error: \(result.job): \(result.text)")
            }
            count += answer.results.count
            guard answer.more == true, !answer.results.isEmpty else { break }
        }
        if count == 0 { try sayThatNoneIs() }
        if !isComplete { throw ExitStatus.failure }
    }

    /// What would be dismissed, and what would not.
    private func tell(_ order: SendingOrder) throws {
        let found = try folder.folder.read { journal throws(JournalError) in try DismissVerb.find(order, in: journal) }
        let (records, refusals): ([JobRecord], [String])
        do throws(ControlProblem) {
            (records, refusals) = try found.get()
        } catch {
            throw DaemonRequest.failed(.init(message: error.message))
        }
        for refusal in refusals { StandardError.print("error: \(refusal)") }
        if records.isEmpty, refusals.isEmpty { try sayThatNoneIs() }
        print(JobSummary(records).text)
        if !refusals.isEmpty { throw ExitStatus.failure }
    }

    private func sayThatNoneIs() throws(ExitCode) {
        let strange = try folder.folder.read { journal throws(JournalError) in try filters.strange(in: journal) }
        StandardError.print(strange.map { "error: \($0)" } ?? "no failed job matches that is not dealt with yet")
        throw ExitStatus.failure
    }
}
