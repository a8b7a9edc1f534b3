import Control
import Files
import PipelineEngine
import PipelineKit

// For people.
extension StatusReport {
    /// The lines; `now` is when they are read. Where there are fewer columns than the table needs, each pipeline's
    /// numbers are given in words.
    func lines(now: Timestamp, columns: Int? = nil) -> [String] {
        var lines = nodes?.summary ?? [daemon(now: now)]
        if let silence { lines.append("cannot say what waits: \(EscapedText.printable(silence))") }
        lines += unloaded.map { file in
            file.text(now: now) + (file.kind == .silent ? "" : "; 'dropmill reload' loads what is there")
        }
        lines += runs.map { "\($0.text); 'dropmill halt \($0.run)' ends it" }
        guard !rows.isEmpty else { return lines + ["no pipeline has run yet"] }
        var table = TextTable([
            ("PIPELINE", .left), ("WAITING", .right), ("ACTIVE", .right), ("DEFERRED", .right), ("SETTLING", .right),
            ("DONE", .right), ("FAILED", .right),
        ])
        let shown = rows.filter { !$0.isOver }
        for row in shown {
            let numbers = [row.active, row[.deferred], row[.settling], row[.processed], row[.failed]]
            table.add([row.name, row.waiting.map { "\($0)" } ?? "?"] + numbers.map { "\($0)" })
        }
        let laidOut = table.lines
        let isNarrow = columns.map { columns in laidOut.contains { $0.count > columns } } ?? false
        lines += isNarrow ? [""] : ["", laidOut[0]]
        for (row, line) in zip(shown, laidOut.dropFirst()) {
            lines.append(isNarrow ? Self.words(of: row) : line)
            lines += (notes(of: row, now: now) + Self.waiting(row.inbox)).map { "  \(EscapedText.printable($0))" }
        }
        let over = rows.filter(\.isOver).map(\.name)
        if !over.isEmpty { lines += ["", "not loaded any more, with nothing unfinished: \(Self.few(over))"] }
        return lines
    }

    /// The first names.
    private static func few(_ names: [String], most: Int = 5) -> String {
        let rest = names.count - most
        return names.prefix(most).joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
    }

    /// `scans: 12 waiting, 3 active, 1 failed`; of those after the first two only what there is.
    private static func words(of row: Row) -> String {
        let more = [
            ("deferred", row[.deferred]), ("settling", row[.settling]), ("done", row[.processed]),
            ("failed", row[.failed]),
        ]
        let numbers =
            [row.waiting.map { "\($0) waiting" } ?? "? waiting", "\(row.active) active"]
            + more.filter { $0.1 > 0 }.map { "\($0.1) \($0.0)" }
        return "\(row.name): \(numbers.joined(separator: ", "))"
    }

    private func daemon(now: Timestamp) -> String {
        guard let run else { return isRunning ? "a daemon is running" : "no daemon is running" }
        if isRunning {
            // Before that the clock was another one.
            let age = now < run.startedAt ? "" : " (\((now - run.startedAt).text))"
            let since = "since \(run.startedAt.localText)\(age)"
            guard run.endedAt == nil else { return "a daemon is starting or stopping" }
            return "\(isStopping ? "stopping, running" : "running") \(since), process \(run.process)"
        }
        guard let ended = run.endedAt else {
            return
                "no daemon is running; the one started at \(run.startedAt.localText) was killed or crashed; its jobs "
                + "resume at the next start"
        }
        return "no daemon is running; the last one stopped at \(ended.localText)"
    }

    private func notes(of row: Row, now: Timestamp) -> [String] {
        var notes: [String] = []
        if row.isLeftOut { return notes + row.leftOut(now: now) }
        if row.active > 0, isRunning {
            notes.append("active: " + row.activeStages.map { Self.text($0.kind, $0.jobs) }.joined(separator: ", "))
        } else if row.active > 0 {
            let stages = row.activeStages.map { "\($0.kind) \($0.jobs.queued + $0.jobs.running)" }
            notes.append("will resume at the next start: " + stages.joined(separator: ", "))
        }
        if row.isEnding { notes.append("another pipeline takes its jobs over, as what is under way ends") }
        if row[.lost] > 0 { notes.append("lost: \(row[.lost])") }
        if let stalled = row.stalled { notes.append("stalled: \(stalled.text)") }
        if row.unwritten > 0 {
            let jobs = row.unwritten == 1 ? "1 job" : "\(row.unwritten) jobs"
            notes.append("these numbers are out of date for \(jobs): the journal cannot be written")
        }
        if row.isBusy { notes.append("the inbox is busy; how much waits is what was known last") }
        if row.isSilent { notes.append("the inbox does not answer; how much waits is what was known last") }
        notes += ([row.hold].compactMap(\.self) + row.heldOn).map { $0.text(at: now) }
        if let outside = row.outside { notes.append(outside) }
        if let failure = row.paused {
            let start = row.record?.pausedSince?.localText
            let since = row.record?.pausedSince.map { " since \($0.localText) (\((now - $0).text))" } ?? ""
            notes +=
                isRunning
                ? ["paused\(since): \(failure.summary)", failure.remedy].filter { !$0.isEmpty }
                : ["paused\(start.map { " since \($0)" } ?? "") when the daemon stopped: \(failure.summary)"]
        }
        notes += row.pausedOn.map { "paused on \($0.node)\(NodesReport.pause($0.record))" }
        notes += row.slots.compactMap(\.text)
        if let poll = row.inbox?.poll { notes.append("the inbox is polled every \(Duration.seconds(poll).text)") }
        guard let record = row.record else {
            return row.inbox == nil ? notes + ["this pipeline was not part of the last run"] : notes
        }
        if !isRunning, let inbox = row.inbox, inbox.waiting > 0 {
            notes.append(
                inbox.isRough
                    ? "its pipeline file cannot be read, so every file at the top of the inbox counts as waiting"
                    : "counted by name; `dropmill explain FILE` says what a drop waits for")
        }
        if !isRunning || nodes != nil, row.inbox == nil { notes.append("as of \(record.updatedAt.localText)") }
        return notes
    }

    /// `run 1 (+37 queued)`; where none runs, `run 37 queued`.
    private static func text(_ kind: String, _ jobs: Row.Stage) -> String {
        guard jobs.running > 0 else { return "\(kind) \(jobs.queued) queued" }
        return "\(kind) \(jobs.running)" + (jobs.queued > 0 ? " (+\(jobs.queued) queued)" : "")
    }

    private static let longestName = 40

    /// What waits for longest, and what is left alone: each with the reason.
    private static func waiting(_ inbox: InboxLook.Inbox?) -> [String] {
        guard let inbox else { return [] }
        return list("waiting", inbox.longest, of: inbox.waiting)
            + list("left alone", inbox.left, of: inbox.leftAlone)
    }

    private static func list(_ title: String, _ drops: [WaitingReply], of total: Int) -> [String] {
        guard !drops.isEmpty else { return [] }
        let rows = drops.map { drop in
            (
                name: EscapedText.of(Array(drop.path)).shortened(to: longestName),
                known: drop.known.map { Duration.seconds($0).text } ?? "", drop: drop
            )
        }
        let width = rows.map(\.name.count).max() ?? 0
        let ages = rows.map(\.known.count).max() ?? 0
        var lines = ["\(title):"]
        for row in rows {
            let age = ages == 0 ? "" : String(repeating: " ", count: ages - row.known.count) + row.known + "  "
            let claimed = row.drop.claimed ? "claimed; " : ""
            lines.append("  \(row.name.padded(to: width))  \(age)\(claimed)\(row.drop.text)")
        }
        if total > drops.count { lines.append("  and \(total - drops.count) more") }
        return lines
    }
}

extension StatusReport.Row {
    /// What is to be said where the daemon that runs does not run it.
    fileprivate func leftOut(now: Timestamp) -> [String] {
        let held = hold.map { [$0.text(at: now)] } ?? []
        let lost = self[.lost] > 0 ? ["lost: \(self[.lost])"] : []
        let count = active + self[.deferred] + self[.settling]
        let stays = count == 1 ? "1 unfinished job stays as it is" : "\(count) unfinished jobs stay as they are"
        let left = count == 0 ? [] : ["\(stays): \(UnloadedJobs.remedy(name))"]
        return lost + held + ["the running daemon does not run this pipeline"] + left
    }
}
