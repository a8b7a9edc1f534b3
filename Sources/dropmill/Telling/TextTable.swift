/// Columns of text, each as wide as its widest cell.
struct TextTable {
    /// Where a column's text stands.
    enum Alignment {
        case left, right
    }

    private let alignments: [Alignment]
    private var rows: [[String]]

    /// A table with its head.
    init(_ columns: [(title: String, alignment: Alignment)]) {
        alignments = columns.map(\.alignment)
        rows = [columns.map(\.title)]
    }

    /// Adds a row of as many cells as there are columns.
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
    /// At most so many characters, the last one an ellipsis where some were left out.
    func shortened(to count: Int) -> String { self.count > count ? prefix(count - 1) + "…" : self }
}
