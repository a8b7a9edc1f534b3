import Glibc

/// Messages other than log lines.
enum StandardError {
    static func print(_ line: String) {
        // A failure here cannot be reported anywhere.
        _ = LogOutput.write(Array((line + "\n").utf8), to: STDERR_FILENO)
        _ = endsOnceRead
    }

    /// Once something was printed the program ends when the system's journal has read it, or after a second:
    /// `systemctl status` shows what is of the invocation that the journal finds at the process.
    private static let endsOnceRead: Void = {
        guard JournalSocket.isStandardError else { return }
        atexit { JournalSocket.awaitReader(of: STDERR_FILENO, until: .now + .seconds(1)) }
    }()

    /// Prefixes a problem with `error: `, unless it names its file and says so already.
    static func line(of problem: String) -> String {
        problem.contains(": error: ") ? problem : "error: \(problem)"
    }
}
