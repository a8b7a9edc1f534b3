/// Columns of text, each as wide as its widest cell.
struct TextTable {
    enum Alignment {
        case left, right
    }

    private let alignments: [Alignment]
    private var rows: [[String]]

    init(_ columns: [(title: String, alignment: Alignment)]) {
        alignments = columns.map(\.alignment)
        rows = [columns.map(\.title)]
    }

    mutating func add(_ cells: [String]) { rows.append(cells) }

    /// The head and the rows, without spaces at their ends.
    var lines: [String] {
        let widths = alignments.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            let cells = zip(zip(row, widths), alignments).map { cell, alignment in
                let space = String(repeating: " ", count: cell.1 - cell.0.count)
                return alignment == .left ? cell.0 + space : space + cell.0
            }
            let line = cells.joined(separator: "  ")
            return String(line.reversed().drop { $0 == " " }.reversed())
        }
    }
}

extension String {
    /// At most `count` characters, with an ellipsis if some were cut.
    func shortened(to count: Int) -> String { self.count > count ? prefix(count - 1) + "…" : self }

    /// Wrapped at spaces where possible; further lines are indented two more than the first.
    func broken(at columns: Int) -> [String] {
        guard count > columns else { return [self] }
        let indent = min(prefix { $0 == " " }.count + 2, columns / 2)
        var lines: [String] = []
        var rest = self[...]
        while true {
            let lead = lines.isEmpty ? "" : String(repeating: " ", count: indent)
            let room = max(1, columns - lead.count)
            guard rest.count > room else { return lines + [lead + rest] }
            let window = rest.prefix(room + 1)
            let first = rest.firstIndex { $0 != " " } ?? rest.startIndex
            let end =
                window.lastIndex(of: " ").flatMap { $0 > first ? $0 : nil } ?? window.index(before: window.endIndex)
            lines.append(lead + rest[..<end])
            rest = rest[end...].drop { $0 == " " }
        }
    }
}
