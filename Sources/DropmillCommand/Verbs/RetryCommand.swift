import ArgumentParser
import Journal
import PipelineEngine

/// `dropmill retry`: failed originals go back into their inboxes.
struct RetryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Send failed originals back into their inboxes, whether the daemon runs or not.",
        discussion: """
            Each becomes a new job that refers to the failed one. Exits with status 1 if one could not be sent back or \
            none was found.

            Example: everything that failed in the pipeline 'scans', once the cause is fixed:

              dropmill retry --failed --pipeline scans
            """)

    @Argument(help: "Ids of jobs or their beginnings, or drops' names (for the newest job).")
    var jobs: [String] = []

    @Flag(help: "Every failed job whose original is still in place.")
    var failed = false

    @Option(help: "With --failed: only jobs of this pipeline.")
    var pipeline: String?

    @OptionGroup var state: StateArguments

    @Flag(help: "Print one JSON object: 'sent' and 'problems'.")
    var json = false

    func validate() throws {
        if jobs.isEmpty, !failed { throw ValidationError("name jobs, or give --failed") }
        if !jobs.isEmpty, failed { throw ValidationError("jobs and --failed exclude each other; choose one") }
        if pipeline != nil, !failed { throw ValidationError("--pipeline works only with --failed; add that") }
    }

    func run() throws {
        var foundAny = true
        let result = try state.folder.write { journal throws(JournalError) in
            var resubmission = try Resubmission(journal)
            if failed {
                foundAny = try resubmission.sendFailed(of: pipeline)
            } else {
                try resubmission.send(jobs)
            }
            return resubmission
        }
        if json {
            print(result.json)
        } else {
            for sent in result.sent {
                print("\(sent.record.id.text) \(sent.record.drop.name.text) → \(sent.path.shortText)")
                if let leftover = sent.leftover { StandardError.print("warning: \(leftover)") }
            }
            for problem in result.problems { StandardError.print("error: \(problem.subject): \(problem.message)") }
            if !foundAny, result.problems.isEmpty { StandardError.print("no failed job has its original in place") }
        }
        if !foundAny || !result.problems.isEmpty { throw ExitStatus.failure }
    }
}
