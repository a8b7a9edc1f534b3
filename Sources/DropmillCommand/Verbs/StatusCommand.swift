import ArgumentParser
import Control
import Glibc
import Journal
import PipelineConfig
import PipelineKit
import SystemPackage

/// `dropmill status`: how things stand.
struct StatusCommand: StageVerb {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show what waits, runs, is done and failed in each pipeline, and whether a daemon is running.",
        discussion: """
            Exits with status 1 if no daemon has ever run with this state folder.

            Example: refresh once a second, until Ctrl-C:

              dropmill status --watch
            """)

    /// What the numbers are of.
    enum Group: String, ExpressibleByArgument, CaseIterable {
        case pipeline, producer
    }

    @Option(help: "What to show numbers of; producers are those of pipelines with 'fair'.")
    var by = Group.pipeline

    @Flag(help: "Refresh every second, until Ctrl-C.")
    var watch = false

    @Option(help: "How many of the longest-waiting drops to list for each pipeline.")
    var limit = 5

    @OptionGroup var state: StateArguments
    @OptionGroup var journal: JournalOption

    @Flag(help: "Print one JSON object: 'pipelines', and unless by producer 'daemon'; with --watch, one per line.")
    var json = false

    func validate() throws {
        if limit < 0 { throw ValidationError("--limit needs 0 or more") }
        if by == .producer, journal.given != nil {
            throw ValidationError("--by producer asks one daemon; it does not work with a shared journal yet")
        }
    }

    func run(with stages: StageRegistry) throws {
        guard watch else {
            print(try text(stages, screen: nil))
            return
        }
        var wait = SignalWait()
        let isTerminal = isatty(STDOUT_FILENO) == 1 && !json
        while true {
            let screen = isTerminal ? Screen.now() : nil
            let text = try text(stages, screen: screen)
            let shown = isTerminal ? Screen.redrawn(text) : text + (json ? "\n" : "\n\n")
            guard LogOutput.write(Array(shown.utf8), to: STDOUT_FILENO) else {
                // Whoever read went away.
                if errno == EPIPE { return }
                StandardError.print("error: cannot write to standard output: \(Errno.last)")
                throw ExitStatus.unwritten
            }
            if wait.isSignalled(within: 1) { return }
        }
    }

    private func text(_ stages: StageRegistry, screen: Screen?) throws(ExitCode) -> String {
        let folder = state.folder.with(journal)
        let limit = limit
        guard by == .pipeline else { return try producers(in: folder, screen) }
        let report = try folder.read { journal throws(JournalError) in
            if let nodes = try NodesReport(journal) { return try StatusReport(journal, of: nodes) }
            var report = try StatusReport(journal, isRunning: try folder.isHeld())
            report.add(
                report.isRunning
                    ? .asking(folder.path, limit: limit)
                    : .counting(report.rows.compactMap(\.record), rules: { Self.pipeline($0, stages) }))
            if report.isRunning, report.silence == nil {
                report.unloaded = FilesInForce(asking: folder)?.differences ?? []
                report.runs = RunsVerb.underWay(in: folder)
            }
            return report
        }
        guard !json else { return report.json }
        let lines = report.lines(now: .now(), columns: screen?.columns)
        return (screen?.fitting(lines) ?? lines).joined(separator: "\n")
    }

    private func producers(in folder: StateFolder, _ screen: Screen?) throws(ExitCode) -> String {
        let report: ProducersReport
        do throws(ControlClient.Problem) {
            report = ProducersReport(
                pipelines: try DaemonRequest.ask(ProducersVerb.self, .init(), in: folder).pipelines)
        } catch {
            throw DaemonRequest.failed(error)
        }
        return json ? report.json : (screen?.fitting(report.lines) ?? report.lines).joined(separator: "\n")
    }

    /// A pipeline as its file describes it now; nil where there is none, or something is wrong with it.
    private static func pipeline(_ record: PipelineRecord, _ stages: StageRegistry) -> Pipeline? {
        guard let source = record.source else { return nil }
        do throws(ConfigProblems) {
            let loader = PipelineLoader(registry: stages, environment: Environment.variables)
            return try loader.load([source]).first { $0.name == record.name }
        } catch {
            return nil
        }
    }
}

/// Waits for SIGINT or SIGTERM, which from then on do nothing else.
private struct SignalWait {
    private var signals = sigset_t()

    init() {
        sigemptyset(&signals)
        sigaddset(&signals, SIGINT)
        sigaddset(&signals, SIGTERM)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        // Whoever reads may go away; writing then says so.
        signal(SIGPIPE, SIG_IGN)
    }

    /// Whether one came within that many seconds.
    mutating func isSignalled(within seconds: Int) -> Bool {
        var limit = timespec(tv_sec: seconds, tv_nsec: 0)
        return sigtimedwait(&signals, nil, &limit) > 0
    }
}
