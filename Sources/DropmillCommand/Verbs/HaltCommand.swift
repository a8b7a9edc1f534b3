import ArgumentParser
import Control

/// `dropmill halt`: ends what the daemon does to many jobs.
struct HaltCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "halt",
        abstract: "End runs over many jobs that the daemon has under way.",
        discussion: """
            Those of 'retry', 'replay' and 'dismiss', and what the page does to many. The job at hand is still done, \
            or the hundred that are dismissed or cancelled at once; 'dropmill status' lists the runs. Exits with \
            status 1 if there is none.

            Example: all of them:

              dropmill halt
            """)

    @Argument(help: "The runs, as 'dropmill status' lists them; without any all that are under way.")
    var runs: [String] = []

    @OptionGroup var state: StateFolderOption

    func run() throws {
        let folder = state.folder
        do throws(ControlClient.Problem) {
            let underWay = try DaemonRequest.ask(RunsVerb.self, Nothing(), in: folder).runs
            let known = underWay.map(\.run)
            for run in runs where !known.contains(run) {
                throw ControlClient.Problem(
                    message: "no run '\(run)' is under way; 'dropmill status' lists those that are")
            }
            guard !underWay.isEmpty else { throw ControlClient.Problem(message: "no run is under way") }
            for run in runs.isEmpty ? known : runs {
                _ = try DaemonRequest.ask(HaltVerb.self, .init(run: run), in: folder)
                print("\(run): ends after the job at hand")
            }
        } catch {
            throw DaemonRequest.failed(error)
        }
    }
}
