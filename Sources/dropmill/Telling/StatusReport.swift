import PipelineEngine
import PipelineKit

/// How things stand: the daemon, and each pipeline.
struct StatusReport {
    /// One pipeline.
    struct Row {
        /// What is known of it; nil where only its jobs are.
        let record: PipelineRecord?
        /// Its name.
        let name: String
        /// How many jobs are in each state.
        var jobs: [JobRecord.State: Int] = [:]
        /// How many jobs wait for a stage or are at it, by its place.
        var stages: [Int: Int] = [:]

        /// Jobs that wait for a worker or are with one.
        var active: Int { self[.waiting] + self[.running] }

        /// Jobs in a state.
        subscript(_ state: JobRecord.State) -> Int { jobs[state] ?? 0 }

        /// Active jobs by the kind of their stage, in the stages' order.
        var activeStages: [(kind: String, count: Int)] {
            let kinds = record?.stages ?? []
            return stages.sorted { $0.key < $1.key }.map { stage, count in
                // Past the last one, a job waits to be settled.
                (
                    kinds.indices.contains(stage) ? kinds[stage] : kinds.count == stage ? "settle" : "#\(stage + 1)",
                    count
                )
            }
        }
    }

    /// Whether a daemon holds the state folder.
    let isRunning: Bool
    /// The latest run.
    let run: RunRecord?
    /// The pipelines, by name.
    let rows: [Row]

    /// Looks into the journal.
    init(_ journal: any Journal, isRunning: Bool) throws(JournalError) {
        self.isRunning = isRunning
        run = try journal.lastRun()
        var rows: [String: Row] = [:]
        for record in try journal.pipelines() { rows[record.name] = Row(record: record, name: record.name) }
        for count in try journal.counts() {
            var row = rows[count.pipeline] ?? Row(record: nil, name: count.pipeline)
            row.jobs[count.state, default: 0] += count.count
            if count.state == .waiting || count.state == .running { row.stages[count.stage, default: 0] += count.count }
            rows[count.pipeline] = row
        }
        self.rows = rows.values.sorted { $0.name < $1.name }
    }

    // MARK: For people

    /// The lines; `now` is when they are read.
    func lines(now: Timestamp) -> [String] {
        var lines = [daemon(now: now)]
        guard !rows.isEmpty else { return lines + ["no pipeline has run yet"] }
        var table = TextTable([
            ("PIPELINE", .left), ("WAITING", .right), ("ACTIVE", .right), ("DEFERRED", .right), ("SETTLING", .right),
            ("DONE", .right), ("FAILED", .right),
        ])
        for row in rows {
            let numbers = [row.active, row[.deferred], row[.settling], row[.processed], row[.failed]]
            table.add([row.name, row.record.map { "\($0.waiting)" } ?? "?"] + numbers.map { "\($0)" })
        }
        let laidOut = table.lines
        lines += ["", laidOut[0]]
        for (row, line) in zip(rows, laidOut.dropFirst()) {
            lines.append(line)
            lines += notes(of: row, now: now).map { "  \(EscapedText.printable($0))" }
        }
        return lines
    }

    private func daemon(now: Timestamp) -> String {
        guard let run else { return isRunning ? "a daemon is running" : "no daemon is running" }
        if isRunning {
            let since = "since \(run.startedAt.localText) (\((now - run.startedAt).text))"
            return run.endedAt == nil ? "running \(since), process \(run.process)" : "a daemon is starting or stopping"
        }
        guard let ended = run.endedAt else {
            return
                "no daemon is running; the one of \(run.startedAt.localText) was killed or crashed, and its jobs are "
                + "taken up at the next start"
        }
        return "no daemon is running; the last one stopped at \(ended.localText)"
    }

    private func notes(of row: Row, now: Timestamp) -> [String] {
        var notes: [String] = []
        if row.active > 0 {
            notes.append("active: " + row.activeStages.map { "\($0.kind) \($0.count)" }.joined(separator: ", "))
        }
        if row[.vanished] > 0 { notes.append("vanished: \(row[.vanished])") }
        guard let record = row.record else { return notes + ["this pipeline is not among those that last ran"] }
        if let failure = record.paused {
            let since = record.pausedSince.map { " since \($0.localText) (\((now - $0).text))" } ?? ""
            notes += ["paused\(since): \(failure.summary)", failure.remedy].filter { !$0.isEmpty }
        }
        if !isRunning { notes.append("as of \(record.updatedAt.localText)") }
        return notes
    }

    // MARK: For programs

    /// One object: `daemon` and `pipelines`.
    var json: String {
        var json = JSONText()
        json.object { json in
            json.object("daemon") { json in
                json.flag("running", isRunning)
                guard let run else { return }
                json.integer("process", run.process)
                json.text("started_at", run.startedAt.iso8601)
                if let ended = run.endedAt { json.text("ended_at", ended.iso8601) }
            }
            json.array("pipelines") { json in
                for row in rows { json.object { write(row, &$0) } }
            }
        }
        return json.string
    }

    private func write(_ row: Row, _ json: inout JSONText) {
        json.text("name", row.name)
        if let record = row.record {
            json.name("inbox", record.inbox.bytes)
            json.integer("waiting", record.waiting)
        }
        json.integer("active", row.active)
        json.array("stages") { json in
            for stage in row.activeStages {
                json.object { json in
                    json.text("kind", stage.kind)
                    json.integer("active", stage.count)
                }
            }
        }
        for (key, state) in [
            ("deferred", JobRecord.State.deferred), ("settling", .settling), ("processed", .processed),
            ("failed", .failed), ("vanished", .vanished),
        ] {
            json.integer(key, row[state])
        }
        guard let record = row.record else { return }
        json.flag("paused", record.paused != nil)
        if let failure = record.paused {
            if let since = record.pausedSince { json.text("paused_since", since.iso8601) }
            json.object("failure") { JobJSON.write(failure, &$0) }
        }
        json.text("updated_at", record.updatedAt.iso8601)
    }
}
