import Glibc

/// Messages other than log lines.
enum StandardError {
    static func print(_ line: String) {
        // A failure here cannot be reported anywhere.
        _ = LogOutput.write(Array((line + "\n").utf8), to: STDERR_FILENO)
        // It may be the last word.
        if JournalSocket.isStandardError { JournalSocket.awaitReader(of: STDERR_FILENO) }
    }

    /// Prefixes a problem with `error: `, unless it names its file and says so already.
    static func line(of problem: String) -> String {
        problem.contains(": error: ") ? problem : "error: \(problem)"
    }
}
