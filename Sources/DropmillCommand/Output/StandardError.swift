import Glibc

/// Messages that are no log lines.
enum StandardError {
    /// Prints a line to standard error.
    static func print(_ line: String) {
        // There is nobody to tell should this fail.
        _ = LogOutput.write(Array((line + "\n").utf8), to: STDERR_FILENO)
    }

    /// A problem as a line that says that it is one: `error: …`, unless it does so already, after the file it is about.
    static func line(of problem: String) -> String {
        problem.contains(": error: ") ? problem : "error: \(problem)"
    }
}
