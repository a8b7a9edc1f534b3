package import Files
package import Journal

/// Open failures in groups, by the index that has them alone.
extension PostgresJournal {
    package func failureGroups(
        of pipeline: String?, since time: Timestamp?, at now: Timestamp
    ) throws(JournalError) -> FailureGroups {
        let since = time.map { FailureGroup.hour(of: $0).multipliedSaturated(by: FailureGroup.nanosecondsOfAnHour) }
        let rows = try read(
            PostgresQuery(
                """
                SELECT pipeline, code, count(*), least(sum(greatest(size, 0)), 9223372036854775807)::bigint, \
                min(open), max(open) FROM history WHERE open >= $1 AND coalesce(pipeline = $2, true) \
                GROUP BY 1, 2 ORDER BY 3 DESC, pipeline COLLATE "C", code COLLATE "C"
                """, since ?? .min, pipeline))
        let groups = try rows.map { found throws(JournalError) in
            var row = found
            return Counted(
                pipeline: try row.text(), code: row.optionalText(), jobs: Int(clamping: try row.integer()),
                bytes: try row.integer(), first: Timestamp(nanoseconds: try row.integer()),
                last: Timestamp(nanoseconds: try row.integer()))
        }
        return FailureGroups(
            total: groups.reduce(0) { $0 + $1.jobs },
            groups: try groups.prefix(FailureGroups.most).map { counted throws(JournalError) in
                try group(counted, since: since ?? .min, at: now)
            })
    }

    private struct Counted {
        let pipeline: String
        let code: String?
        let jobs: Int
        let bytes: Int64
        let first: Timestamp
        let last: Timestamp
    }

    private func group(
        _ counted: Counted, since: Int64, at now: Timestamp
    ) throws(JournalError) -> FailureGroup {
        let key = "pipeline = $1 AND code IS NOT DISTINCT FROM $2 AND open >= $3"
        let hour = FailureGroup.nanosecondsOfAnHour
        let hours = try read(
            PostgresQuery(
                "SELECT open / \(hour), count(*) FROM history WHERE \(key) GROUP BY 1", counted.pipeline,
                counted.code, (FailureGroup.hour(of: now) - 23).multipliedSaturated(by: hour)))
        let counts = try hours.map { found throws(JournalError) in
            var row = found
            return (try row.integer(), Int(clamping: try row.integer()))
        }
        let newest = try records(
            PostgresQuery(
                "\(JobColumns.select) WHERE \(key) ORDER BY open DESC, id DESC LIMIT \(FailureSentence.mostRead)",
                counted.pipeline, counted.code, since))
        return FailureGroup(
            newest, pipeline: counted.pipeline, code: counted.code ?? "", jobs: counted.jobs, bytes: counted.bytes,
            first: counted.first, last: counted.last, hours: Dictionary(counts) { first, _ in first }, at: now)
    }
}
