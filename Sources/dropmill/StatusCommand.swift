import ArgumentParser
import BuiltinStages
import Glibc
import PipelineConfig
import PipelineEngine
import PipelineKit
import SystemPackage

/// `dropmill status`: how things stand.
struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Tell for each pipeline what waits, runs, is done and failed, and whether a daemon runs.",
        discussion: """
            Exits with status 1 where no daemon has ever run with this state folder.

            Example: keep an eye on it, once a second, until Ctrl-C:

              dropmill status --watch
            """)

    @Flag(help: "Show it again every second, until Ctrl-C.")
    var watch = false

    @Option(help: "How many of the drops that have waited longest are listed for each pipeline.")
    var limit = 5

    @OptionGroup var state: StateArguments

    @Flag(help: "Print one JSON object: 'daemon' and 'pipelines'; with --watch one a line.")
    var json = false

    func validate() throws {
        if limit < 0 { throw ValidationError("--limit needs 0 or more") }
    }

    func run() throws {
        guard watch else {
            print(try text(screen: nil))
            return
        }
        var wait = SignalWait()
        let isTerminal = isatty(STDOUT_FILENO) == 1 && !json
        while true {
            let screen = isTerminal ? Screen.now() : nil
            let text = try text(screen: screen)
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

    private func text(screen: Screen?) throws(ExitCode) -> String {
        let folder = state.folder
        let limit = limit
        let report = try folder.read { journal throws(JournalError) in
            var report = try StatusReport(journal, isRunning: try folder.isHeld())
            report.add(
                report.isRunning
                    ? .asking(folder.path, limit: limit)
                    : .counting(report.rows.compactMap(\.record), rules: Self.pipeline))
            return report
        }
        guard !json else { return report.json }
        let lines = report.lines(now: .now(), columns: screen?.columns)
        return (screen?.fitting(lines) ?? lines).joined(separator: "\n")
    }

    /// A pipeline as its file describes it now; nil where there is none, or something is wrong with it.
    private static func pipeline(_ record: PipelineRecord) -> Pipeline? {
        guard let source = record.source else { return nil }
        do throws(ConfigProblems) {
            let loader = PipelineLoader(registry: .builtin, environment: Environment.variables)
            return try loader.load([source]).first { $0.name == record.name }
        } catch {
            return nil
        }
    }
}

/// A terminal that is drawn anew in place: what is longer than a line is broken, what is more than there are, cut.
struct Screen {
    let columns: Int
    let rows: Int

    /// As standard output has it now; 80 by 24 where it does not say.
    static func now() -> Screen {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return Screen(columns: 80, rows: 24)
        }
        return Screen(columns: Int(size.ws_col), rows: Int(size.ws_row))
    }

    /// As much of the lines as there is room for; the last row stays free.
    func fitting(_ lines: [String]) -> [String] {
        let room = max(1, rows - 1)
        let lines = lines.flatMap { $0.broken(at: columns) }
        return lines.count > room ? lines.prefix(room - 1) + ["…"] : lines
    }

    /// Home, then the text with each line's old rest erased, then all below it.
    static func redrawn(_ text: String) -> String {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        return "\u{1B}[H" + lines.map { $0 + "\u{1B}[K\n" }.joined() + "\u{1B}[J"
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

    /// Whether one came within so many seconds.
    mutating func isSignalled(within seconds: Int) -> Bool {
        var limit = timespec(tv_sec: seconds, tv_nsec: 0)
        return sigtimedwait(&signals, nil, &limit) > 0
    }
}
