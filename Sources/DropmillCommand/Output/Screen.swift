import ArgumentParser
import Glibc
import Journal
import PipelineConfig
import SystemPackage

/// A terminal that is redrawn in place: longer lines wrap, and lines that do not fit are cut.
struct Screen {
    let columns: Int
    let rows: Int

    /// Standard output's current size; 80 by 24 if unknown.
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
