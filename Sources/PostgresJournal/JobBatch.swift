import Files
import Journal
import PipelineKit
import SystemPackage

/// Jobs that are written together, each once.
struct JobBatch {
    let jobs: [JobRecord]

    /// Of several records of one job the last counts.
    init(_ records: [JobRecord]) {
        var places: [JobID: Int] = [:]
        var jobs: [JobRecord] = []
        jobs.reserveCapacity(records.count)
        for place in records.indices {
            if let earlier = places.updateValue(jobs.count, forKey: records[place].id) {
                jobs[earlier] = records[place]
                places[records[place].id] = earlier
            } else {
                jobs.append(records[place])
            }
        }
        self.jobs = jobs
    }

    /// Has them written, by a column each of their values. `turn`: grows with each writing of the incarnation.
    func query(by incarnation: Incarnation, _ tokens: [JobID: Int64], in turn: Int64) -> PostgresQuery {
        func column(_ value: (JobRecord) -> (any PostgresValue)?) -> PostgresColumn { PostgresColumn(jobs.map(value)) }
        return PostgresQuery(
            """
            SELECT fenced FROM take_turn_1($1, $22) AS turn (me) CROSS JOIN LATERAL \
            write_jobs_1(turn.me, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, \
            $20, $21)
            """,
            [
                incarnation.id, column(\.id.text), column { tokens[$0.id] ?? 0 }, column(\.pipeline),
                column(\.state.rawValue), column(\.stage), column(\.drop.name.bytes), column(\.producer),
                column(\.claimedAt.nanoseconds), column { $0.finishedAt?.nanoseconds }, column { $0.slot?.text },
                column { $0.failure?.code },
                column { $0.hasFailed ? ($0.finishedAt ?? $0.claimedAt).nanoseconds : nil },
                column { $0.retryOf?.text }, column { $0.replayOf?.text },
                column { $0.original.map { Array($0.bytes) } },
                column { Int64(bitPattern: $0.identity.inode) }, column(\.drop.size),
                column { $0.modified.map { Timestamp($0).nanoseconds } }, column(\.definition.text), column(Self.text),
                turn,
            ])
    }

    private static func text(of record: JobRecord) -> String {
        var json = JSONText()
        json.job(record)
        return json.string
    }
}
