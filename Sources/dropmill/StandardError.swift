import Glibc

/// Messages that are no log lines.
enum StandardError {
    /// Prints a line to standard error.
    static func print(_ line: String) {
        // There is nobody to tell should this fail.
        _ = LogOutput.write(Array((line + "\n").utf8), to: STDERR_FILENO)
    }
}
