import ArgumentParser
import Control
import Journal

/// `dropmill halt`: ends what the daemon does to many jobs.
struct HaltCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "halt",
        abstract: "End runs over many jobs that the daemon has under way.",
        discussion: """
            Those of 'retry', 'replay' and 'dismiss', and what the page does to many. The job at hand is still done, \
            or the hundred that are dismissed or cancelled at once; 'dropmill status' lists the runs. Where nodes \
            share a journal this host's daemon is asked, or with --node another one, or all. Exits with status 1 if \
            there is none.

            Example: all of them:

              dropmill halt
            """)

    @Argument(help: "The runs, as 'dropmill status' lists them; without any all that are under way.")
    var runs: [String] = []

    @OptionGroup var state: StateFolderOption
    @OptionGroup var node: NodeOption

    func run() throws {
        let folder = state.folder.with(node.journal)
        if node.given != nil { return try haltOnNodes(in: folder) }
        do throws(ControlClient.Problem) {
            let underWay = try DaemonRequest.ask(RunsVerb.self, Nothing(), in: folder, orNode: true).runs
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

    private func haltOnNodes(in folder: StateFolder) throws(ExitCode) {
        var (isDone, isComplete) = (false, true)
        func fail(_ node: NodeRecord, _ problem: ControlClient.Problem) {
            isComplete = false
            StandardError.print("error: \(node.printable): \(problem.message)")
        }
        try folder.askingNodes { asking throws(JournalError) in
            for (node, result) in try asking.ask(RunsVerb.self, Nothing(), of: asking.nodes(node.name)) {
                let known: [String]
                do throws(ControlClient.Problem) {
                    known = try result.get().runs.map(\.run)
                } catch {
                    fail(node, error)
                    continue
                }
                for run in known where runs.isEmpty || runs.contains(run) {
                    for (node, result) in try asking.ask(HaltVerb.self, .init(run: run), of: [node]) {
                        switch result {
                        case .success:
                            print("\(node.printable): \(run): ends after the job at hand")
                            isDone = true
                        case .failure(let problem): fail(node, problem)
                        }
                    }
                }
            }
        }
        if !isDone, isComplete { StandardError.print("error: no such run is under way") }
        if !isDone || !isComplete { throw ExitStatus.failure }
    }
}
