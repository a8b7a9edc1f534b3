import Files
package import Journal

/// Slots of stages that all nodes have together.
extension PostgresJournal {
    /// How long an answer is waited for: what waits for a slot waits no shorter.
    private static let patience = Duration.seconds(5)

    package func takeSlots(_ tickets: [SlotTicket], upTo last: Int64) throws(JournalError) -> [SlotStanding] {
        guard let incarnation else { throw isForReading }
        let query = PostgresQuery(
            "SELECT number, is_taken, is_awaited FROM take_slots_1($1, $2, $3, $4, $5, $6)", incarnation.id, last,
            PostgresColumn(tickets.map(\.number)), PostgresColumn(tickets.map(\.place.pipeline)),
            PostgresColumn(tickets.map(\.place.stage)), PostgresColumn(tickets.map(\.most)))
        let answers = try again("write") { () throws(PostgresError) in
            try turns.exchange([query], within: Self.patience)
        }
        return try (answers.first ?? []).map { found throws(JournalError) in
            var row = found
            return SlotStanding(number: try row.integer(), isTaken: try row.flag(), isAwaited: try row.flag())
        }
    }

    package func slotsInUse() throws(JournalError) -> [SlotUse] {
        let rows = try read(
            PostgresQuery(
                """
                SELECT pipeline, stage, most, n.name, taken, count(*) FROM slots s JOIN nodes n USING (incarnation) \
                WHERE dead_at IS NULL GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3 DESC
                """))
        var all: [SlotPlace: (most: Int, taken: [String: Int], waiting: [String: Int])] = [:]
        for found in rows {
            var row = found
            let place = SlotPlace(pipeline: try row.text(), stage: try row.text())
            let (most, node) = (Int(clamping: try row.integer()), try row.text())
            let (isTaken, count) = (try row.flag(), Int(clamping: try row.integer()))
            var use = all[place] ?? (most, [:], [:])
            if isTaken { use.taken[node, default: 0] += count } else { use.waiting[node, default: 0] += count }
            all[place] = use
        }
        return all.map { SlotUse($0, most: $1.most, taken: $1.taken, waiting: $1.waiting) }
            .sorted { ($0.place.pipeline, $0.place.stage) < ($1.place.pipeline, $1.place.stage) }
    }
}
