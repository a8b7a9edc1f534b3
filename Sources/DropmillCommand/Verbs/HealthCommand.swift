import ArgumentParser
import Control
import Files
import Journal
import PipelineKit

/// `dropmill health`: one line for a monitor.
struct HealthCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "health",
        abstract: "Say in one line whether the daemon is well, for monitors and containers.",
        discussion: """
            Exits with status 0 if it is, and with 1 if it is not running, does not answer, is paused by trouble \
            or stalled, refused the last reload, or cannot write the journal. A pause by a person is not an illness.

            Example: also if a drop is not through within two hours, or more than ten failed within one:

              dropmill health --max-age 2h --max-failed 10
            """)

    @Option(
        help: ArgumentHelp("How old the oldest drop that is not through may be.", valueName: "duration"),
        transform: TimeArgument.duration)
    var maxAge: Duration?

    @Option(parsing: .unconditional, help: "How many jobs may have failed within the last hour.")
    var maxFailed: Int?

    @OptionGroup var state: StateArguments

    @Flag(help: "Print one JSON object: 'well', 'problems' and 'summary'.")
    var json = false

    func validate() throws {
        if let maxFailed, maxFailed < 0 { throw ValidationError("--max-failed needs 0 or more") }
    }

    func run() throws {
        let folder = state.folder
        var report = HealthReport(isRunning: folder.isHeldIfKnown != false, in: folder.path.text) {
            () throws(ControlClient.Problem) in
            try ControlClient.ask(HealthVerb.self, Nothing(), in: folder.path)
        }
        do throws(ExitCode) {
            try judge(&report, folder)
        } catch {
            report.add("the journal cannot be read")
        }
        print(json ? report.json : report.text)
        if !report.isWell { throw ExitStatus.failure }
    }

    private func judge(_ report: inout HealthReport, _ folder: StateFolder) throws(ExitCode) {
        if let maxAge {
            let claimed = try folder.read { journal throws(JournalError) in
                try journal.unfinished().first.map { Timestamp.now() - $0.claimedAt }
            }
            report.judge(oldest: [claimed, waiting(folder, &report)].compactMap(\.self).max(), limit: maxAge)
        }
        if let maxFailed {
            let failed = try folder.read { journal throws(JournalError) in try journal.jobs(query(maxFailed)).count }
            report.judge(failed: failed, limit: maxFailed)
        }
    }

    private func query(_ limit: Int) -> JobQuery {
        var query = JobQuery()
        query.states = [.failed]
        query.otherThan = Failure.releaseCode
        query.finishedSince = Timestamp(nanoseconds: Timestamp.now().nanoseconds - Duration.seconds(3600).nanoseconds)
        query.limit = min(limit, 1_000_000) + 1
        return query
    }

    /// How long the drop that waits longest is known; nil where none waits.
    private func waiting(_ folder: StateFolder, _ report: inout HealthReport) -> Duration? {
        guard report.isRunning else { return nil }
        do throws(ControlClient.Problem) {
            let answer = try ControlClient.ask(WaitingVerb.self, .init(limit: 0), in: folder.path)
            report.add(silent: answer.silent)
            return answer.inboxes.values.compactMap(\.oldest).max().map { .seconds(min($0, 1e9)) }
        } catch {
            if !error.isCrowded { report.add(error.message) }
            return nil
        }
    }
}
