import Control
import Files
import Journal

/// Jobs for people: one line each.
enum JobTable {
    private static let longestName = 40
    private static let longestReason = 60

    /// A head, and a line for each job. `now`: the time up to which unfinished jobs are counted.
    static func lines(
        _ records: [JobRecord], _ surroundings: JobSurroundings = JobSurroundings(), now: Timestamp
    ) -> [String] {
        // Of a journal that nodes share.
        let isShared = records.contains { $0.node != nil }
        var table = TextTable(
            [
                ("JOB", .left), ("STATE", .left), ("PIPELINE", .left), ("NAME", .left), ("SIZE", .right),
                ("CLAIMED", .left), ("TOOK", .right),
            ] + (isShared ? [("NODE", .left)] : []) + [("REASON", .left)])
        for record in records {
            let reason =
                surroundings.hindrance(of: record) ?? (record.state == .processed ? "" : record.failure?.summary ?? "")
            table.add(
                [
                    record.id.text, record.word, record.pipeline,
                    place(of: record), ByteSize(bytes: record.drop.size).description,
                    record.claimedAt.localText, record.took(at: now).text,
                ] + (isShared ? [EscapedText.printable(record.node ?? "")] : [])
                    + [EscapedText.printable(reason).shortened(to: longestReason)])
        }
        return table.lines
    }

    /// The drop's path in the inbox; of one that is too long the end.
    private static func place(of record: JobRecord) -> String {
        let text = record.drop.path.text
        guard !record.drop.folders.isEmpty, text.count > longestName else { return text.shortened(to: longestName) }
        return "…" + text.suffix(longestName - 1)
    }
}

extension Timestamp {
    /// For people: the local time, to the second.
    var localText: String { formatted("%Y-%m-%d %H:%M:%S") }
}
