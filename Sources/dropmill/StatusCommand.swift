import ArgumentParser
import Glibc
import PipelineEngine
import PipelineKit

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

    @OptionGroup var state: StateArguments

    @Flag(help: "Print one JSON object: 'daemon' and 'pipelines'; with --watch one a line.")
    var json = false

    func run() throws {
        guard watch else {
            print(try text())
            return
        }
        var wait = SignalWait()
        let isTerminal = isatty(STDOUT_FILENO) == 1
        while true {
            let text = try text()
            // Home, then the text with each line's old rest erased, then all below it.
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            let shown =
                isTerminal && !json
                ? "\u{1B}[H" + lines.map { $0 + "\u{1B}[K\n" }.joined() + "\u{1B}[J" : text + (json ? "\n" : "\n\n")
            guard LogOutput.write(Array(shown.utf8), to: STDOUT_FILENO), !wait.isSignalled(within: 1) else { return }
        }
    }

    private func text() throws(ExitCode) -> String {
        let folder = state.folder
        let report = try folder.read { journal throws(JournalError) in
            try StatusReport(journal, isRunning: try folder.isHeld())
        }
        return json ? report.json : report.lines(now: .now()).joined(separator: "\n")
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
