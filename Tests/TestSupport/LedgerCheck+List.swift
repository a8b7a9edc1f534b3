import Files
import SystemPackage

/// The list of `output/by-listed`.
extension LedgerCheck {
    /// Every published drop has exactly one line, whole, under the name that it got; no line tells of anything else but
    /// those that stood there before. Until all is settled lines may be missing or half there, but those that stood
    /// there may not.
    mutating func judgeList(standing: [[UInt8]]) throws {
        let path = layout.output.pushing("by-listed/SHA256SUMS")
        explained.insert(path)
        guard Folder.kind(of: path) != nil else {
            if !standing.isEmpty { report(.lost, "the list '\(path.text)', which lay there before") }
            if isSettled, !listed.isEmpty { report(.torn, "\(listed.count) drops were published without a list") }
            return
        }
        let bytes = try ScratchFolder.read(path)
        var lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false).map { Array($0) }
        let tail = lines.popLast() ?? []
        // Until somebody adds a line it may lack its newline, or have NULs in its place.
        if !isSettled { lines.append(Array(tail.prefix { $0 != 0 })) }
        for line in standing {
            guard let place = lines.firstIndex(of: line) else {
                report(.lost, "a line of the list, which stood there before: \(EscapedText.of(line))")
                continue
            }
            lines.remove(at: place)
        }
        guard isSettled else { return }
        if !tail.isEmpty { report(.torn, "the list ends with '\(EscapedText.of(tail))'") }
        for (name, digest) in listed {
            let line = Array("\(digest)  \(name)".utf8)
            let count = lines.count { $0 == line }
            if count == 0 { report(.torn, "'\(name)' was published without its line") }
            if count > 1 { report(.publishedTwice, "the line of '\(name)', \(count) times") }
            lines.removeAll { $0 == line }
        }
        // Damage and what was replaced are comments.
        for line in lines where line.first != UInt8(ascii: "#") || line.contains(0) {
            report(.stranger, "a line of the list: '\(EscapedText.of(line))'")
        }
    }
}
