import Control
import Files
import Journal
import PipelineEngine
import PipelineKit
import SystemPackage

/// One job's whole story for a person: what it is, what happened, why it failed and what to do.
struct JobStory {
    let record: JobRecord
    /// The jobs that it led to by `retry`, newest first.
    let retries: [JobRecord]
    /// The same by `replay`.
    var replays: [JobRecord] = []
    let pipeline: PipelineRecord?
    /// What it may wait for besides a worker.
    var surroundings = JobSurroundings()

    /// The lines; `now` is when they are read.
    func lines(now: Timestamp) -> [String] {
        let hindrance = surroundings.hindrance(of: record).map { "; \(EscapedText.printable($0))" } ?? ""
        var lines = ["\(record.drop.name.text): \(headline(now: now))\(hindrance)"]
        if let remedy = surroundings.pause(of: record)?.remedy, !remedy.isEmpty {
            lines.append("  \(EscapedText.printable(remedy))")
        }
        if let hold = surroundings.hold(of: record) {
            let place = hold.node.map { " --node \(EscapedText.printable($0))" } ?? ""
            lines.append("  'dropmill resume \(EscapedText.printable(hold.pipeline))\(place)' lets it go on")
        }
        if surroundings.isUnloaded(record) {
            lines.append("  \(EscapedText.printable(UnloadedJobs.remedy(record.pipeline)))")
        }
        lines += Self.aligned(facts)
        if !record.history.isEmpty { lines += ["", "What happened:"] + Self.aligned(happenings) }
        let durations = durations
        if !durations.isEmpty { lines += ["", "What took how long:"] + Self.aligned(durations) }
        if let failure = record.failure, record.state != .processed {
            let stage = record.failedStage.map { " (\($0))" } ?? ""
            lines += ["", "Why\(stage):"]
            lines += [failure.summary, failure.remedy].filter { !$0.isEmpty }.map { "  \(EscapedText.printable($0))" }
            lines += Self.detail(of: failure)
        }
        if record.facts["archive"] == "missed" {
            lines += ["", "Was it meant to be an archive?"]
            lines.append("  It was not unpacked, for the reason above, and passed unchanged. In the stage 'unpack'")
            lines.append("  `require: true` fails such drops; `when: { archive: missed }` routes them elsewhere.")
        }
        if record.state == .failed, record.original != nil, record.originalEnd == nil, retries.isEmpty,
            record.failure?.isRelease != true
        {
            lines += ["", "To retry it: dropmill retry \(record.id.text)"]
        }
        return lines
    }

    /// The facts behind a failure; what a program wrote, or a list of files, has many lines.
    private static func detail(of failure: Failure) -> [String] {
        let lines = failure.detail.split(whereSeparator: \.isNewline).map { EscapedText.printable(String($0)) }
        if lines.count > 1 { return ["  [\(failure.code)]"] + lines.map { "    \($0)" } }
        let detail = ([failure.code] + lines).filter { !$0.isEmpty }.joined(separator: ": ")
        return detail.isEmpty ? [] : ["  [\(detail)]"]
    }

    private func headline(now: Timestamp) -> String {
        if let finished = record.finishedAt { return "\(record.word) \((now - finished).text) ago" }
        let stage = pipeline.flatMap { $0.stages.indices.contains(record.stage) ? $0.stages[record.stage] : nil }
        switch record.state {
        case .queued: return stage.map { "queued for \($0)" } ?? "queued for settlement"
        case .running: return stage.map { "running \($0)" } ?? "running"
        case .deferred:
            let wait = record.nextAttempt.map { max(.zero, $0 - now) }
            return "waits to retry \(stage ?? "its stage")" + (wait.map { ", in \($0.text)" } ?? "")
        default: return record.word
        }
    }

    private var facts: [(String, String)] {
        let drop = record.drop
        let source = pipeline.map { inbox in
            drop.folders.reduce(inbox.inbox) { $0.appending($1) }.appending(drop.name).shortText
        }
        let size = ByteSize(bytes: drop.size)
        var facts = [
            ("job", record.id.text), ("pipeline", record.pipeline), ("dropped as", source ?? drop.name.text),
            ("size", drop.size < 1024 ? size.description : "\(size) (\(drop.size) bytes)"),
            ("dropped", drop.droppedAt.localText), ("claimed", record.claimedAt.localText),
        ]
        if let finished = record.finishedAt {
            facts.append(("finished", "\(finished.localText), after \(record.took().text)"))
        }
        if let node = record.node { facts.append(("node", EscapedText.printable(node))) }
        if record.failures > 0 { facts.append(("failed runs", "\(record.failures)")) }
        if let next = record.nextAttempt, record.state == .deferred { facts.append(("next run", next.localText)) }
        if record.recoveries > 0 {
            facts.append(("recoveries", "\(record.recoveries) (the daemon stopped while the job was unfinished)"))
        }
        for (algorithm, digest) in record.digests.sorted(by: { $0.key < $1.key }) { facts.append((algorithm, digest)) }
        for (name, fact) in record.facts.sorted(by: { $0.key < $1.key }) {
            facts.append((name, EscapedText.printable(fact)))
        }
        let published = record.outputs.filter { output in !(record.original.map(output.isBeside) ?? false) }
        facts += Self.list("outputs", published)
        if record.state.isFinal, record.state != .lost {
            let gone = record.outputs.isEmpty ? "deleted" : "deleted, or published as an output"
            let end = record.originalEnd.map { ", \($0.event == Transition.pruned ? "removed" : "gone") since" } ?? ""
            facts.append(("original", (record.original?.shortText ?? gone) + end))
            facts += Self.list("beside it", record.outputs.filter { !published.contains($0) })
        }
        if let origin = record.retryOf { facts.append(("retry of", origin.text)) }
        if let first = record.replayOf { facts.append(("replay of", first.text)) }
        for retry in retries { facts.append(("retried as", "\(retry.id.text) (\(retry.word))")) }
        for replay in replays { facts.append(("replayed as", "\(replay.id.text) (\(replay.word))")) }
        if let dismissal = record.dismissed {
            facts.append(("dismissed", "by \(dismissal.by), \(dismissal.at.localText)"))
        }
        return facts
    }

    private static func list(_ title: String, _ paths: [FilePath]) -> [(String, String)] {
        paths.enumerated().map { index, path in (index == 0 ? title : "", path.shortText) }
    }

    private var happenings: [(String, String)] {
        let seen = timeLine.firstSeen.map { [($0.localText, "seen in the inbox")] } ?? []
        return seen
            + record.history.flatMap { transition in
                var text = transition.stage.map { "\($0) \(transition.event)" } ?? transition.event
                if transition.event == "claimed", let duration = transition.duration {
                    text += ", \(duration.text) after it was seen"
                } else if let duration = transition.duration {
                    text += ", \(duration.text)"
                }
                if let last = transition.lastAt { text += ", \(transition.times) times until \(last.localText)" }
                if let note = transition.note { text += ": \(note)" }
                let time = transition.at.localText
                // A stage may have had several lines to say.
                return text.split(separator: "\n").enumerated().map { index, line in
                    (index == 0 ? time : "", EscapedText.printable(String(line)))
                }
            }
    }

    private var timeLine: TimeLine { TimeLine(of: record, stages: pipeline?.stages ?? []) }

    /// Waits and runs of each stage; nothing where nothing waited for long enough to be asked about.
    private var durations: [(String, String)] {
        let rows = timeLine.rows
        let waits = rows.filter { $0.place != .inbox }.map { $0.time(.queued) + $0.time(.deferred) }
        guard let longest = waits.max(), longest >= Self.noticed else { return [] }
        return rows.compactMap { row in
            let runs = row.spans.count { $0.kind == .run }
            let parts = TimeLine.Span.Kind.allCases.compactMap { kind in
                let time = row.time(kind)
                guard time > .zero || kind == .run && runs > 0 else { return nil as String? }
                return "\(kind.text) \(time.text)" + (kind == .run && runs > 1 ? " in \(runs) runs" : "")
            }
            return parts.isEmpty ? nil : (row.kind, parts.joined(separator: ", "))
        }
    }

    private static let noticed = Duration.seconds(1)

    private static func aligned(_ pairs: [(String, String)]) -> [String] {
        let width = pairs.map(\.0.count).max() ?? 0
        return pairs.map { "  \($0)\(String(repeating: " ", count: width - $0.count))  \($1)" }
    }
}

extension TimeLine.Span.Kind {
    /// What precedes how long it was so.
    fileprivate var text: String {
        switch self {
        case .inbox: "waited"
        case .queued: "queued"
        case .run: "ran"
        case .deferred: "deferred"
        case .settling: "took"
        }
    }
}
