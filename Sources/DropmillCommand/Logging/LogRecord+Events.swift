import Files
import Journal
import PipelineEngine
import PipelineKit
import SystemPackage

extension LogRecord {
    /// The line for an event of the engine. `namesPipeline`: say in the sentence which pipeline a job is of.
    init(_ event: EngineEvent, namesPipeline: Bool) {
        func subject(_ job: Job) -> String { Self.prefix(job.pipeline, namesPipeline) + job.drop.path.text }
        switch event {
        case .claimed(let job, let adopted):
            let what = adopted ? "found in the work folder" : "claimed"
            self.init(
                "claimed", "\(subject(job)) \(what), \(ByteSize(bytes: job.drop.size))",
                fields: Self.fields(job) + [("size", .integer(job.drop.size)), ("adopted", .flag(adopted))])
        case .stillWritten(let job, let reason):
            self.init(
                "late_writer", "\(subject(job)) waits: \(reason)",
                fields: Self.fields(job) + [("reason", .text(reason))])
        case .stageStarted(let job, let stage):
            self.init(
                "stage_started", "\(subject(job)) \(stage) …", fields: Self.fields(job) + [("stage", .text(stage))])
        case .stageProgress(let job, let stage, let running, let done):
            self.init(
                "stage_progress", "\(subject(job)) \(ProgressLine.text(stage: stage, running: running, done))",
                fields: Self.fields(job) + [
                    ("stage", .text(stage)), ("running_s", .seconds(running)), ("bytes", .integer(done.bytes)),
                    ("entries", .integer(done.entries)),
                ])
        case .stageFinished(let job, let stage, let duration):
            self.init(
                "stage_finished", "\(subject(job)) \(stage) done, \(duration.text)",
                fields: Self.fields(job) + [("stage", .text(stage)), ("duration_s", .seconds(duration))])
        case .deferred(let job, let stage, let failure, let delay):
            self.init(
                "deferred", "\(subject(job)) \(stage) failed, retrying in \(delay.text)", mark: .attention,
                notes: [failure.summary, failure.remedy],
                fields: Self.fields(job) + [("stage", .text(stage)), ("delay_s", .seconds(delay))]
                    + Self.fields(failure))
        case .settled(let report): self.init(settled: report, subject: subject(report.job))
        case .refused(let pipeline, let path, let reason):
            self.init(
                "refused", "\(Self.prefix(pipeline, namesPipeline))\(path.text) stays in the inbox: \(reason)",
                mark: .attention,
                fields: [("pipeline", .text(pipeline)), ("name", .bytes(path.bytes)), ("reason", .text(reason))])
        case .writers(let pipeline, let means, let quiet):
            self.init(
                "writers", Self.prefix(pipeline, namesPipeline) + means.text(quiet: quiet),
                mark: means == .longerQuiet ? .attention : .plain,
                fields: [("pipeline", .text(pipeline)), ("means", .text(means.word))])
        case .started(let pipeline, let inbox, let adopted):
            let found = adopted == 0 ? "" : ", \(adopted) unfinished from the last run"
            self.init(
                "started", "\(pipeline): watching \(inbox.shortText)\(found)",
                fields: [
                    ("pipeline", .text(pipeline)), ("inbox", .bytes(inbox.bytes)),
                    ("adopted", .integer(Int64(adopted))),
                ])
        case .watching(let pipeline, .events, let reason):
            self.init(
                "watching", "\(pipeline): watching with events again", notes: [reason],
                fields: [("pipeline", .text(pipeline)), ("watching", .text("events")), ("reason", .text(reason))])
        case .watching(let pipeline, .polling(let interval), let reason):
            self.init(
                "watching", "\(pipeline): polling every \(interval.text)", mark: .attention,
                notes: [reason],
                fields: [
                    ("pipeline", .text(pipeline)), ("watching", .text("polling")), ("interval_s", .seconds(interval)),
                    ("reason", .text(reason)),
                ])
        case .paused(let pipeline, let failure):
            self.init(
                "paused", "\(pipeline): paused: \(failure.summary)", mark: .attention, notes: [failure.remedy],
                fields: [("pipeline", .text(pipeline))] + Self.fields(failure))
        case .resumed(let pipeline, let pause):
            self.init(
                "resumed", "\(pipeline): resumed after \(pause.text)",
                fields: [("pipeline", .text(pipeline)), ("after_s", .seconds(pause))])
        case .stalled(let pipeline, let stall):
            self.init(
                "stalled", "\(pipeline): stalled: \(stall.text)", mark: .attention, notes: [stall.remedy(pipeline)],
                fields: [("pipeline", .text(pipeline)), ("for_s", .seconds(stall.time)), ("reason", .text(stall.text))]
                    + (stall.job.map { [("job", .text($0.text))] } ?? [])
                    + (stall.stage.map { [("stage", .text($0))] } ?? []))
        case .moving(let pipeline, let time):
            self.init(
                "moving", "\(pipeline): moves again after \(time.text)",
                fields: [("pipeline", .text(pipeline)), ("after_s", .seconds(time))])
        case .held(let hold):
            self.init(
                "held", "\(hold.pipeline): \(hold.news)", mark: .attention,
                fields: Self.fields(hold))
        case .lifted(let hold, let name):
            self.init(
                "resumed", "\(hold.pipeline): \(hold.end(by: name))",
                fields: [("pipeline", .text(hold.pipeline))] + (name.map { [("by", .text($0))] } ?? []))
        case .closed(let pipeline, let text):
            self.init(
                "outside_hours", "\(pipeline): \(text)",
                fields: [("pipeline", .text(pipeline)), ("reason", .text(text))])
        case .opened(let pipeline):
            self.init("within_hours", "\(pipeline): its hours have begun", fields: [("pipeline", .text(pipeline))])
        case .warning(let pipeline, let message):
            self.init(
                "warning", Self.prefix(pipeline ?? "", pipeline != nil) + message, mark: .attention,
                fields: pipeline.map { [("pipeline", .text($0))] } ?? [])
        case .archiving(let trouble?): self.init("archive_failed", trouble, mark: .attention, fields: [])
        case .archiving(nil): self.init("archiving", "the history can be archived", fields: [])
        case .historyEnded(let jobs, let message):
            self.init("history", message, fields: [("jobs", .integer(Int64(jobs)))])
        case .pruned(let pipeline, let files, let message):
            self.init(
                "pruned", "\(pipeline): \(message)",
                fields: [("pipeline", .text(pipeline)), ("files", .integer(Int64(files)))])
        case .pruning(let pipeline, let trouble?):
            self.init(
                "prune_failed", "\(pipeline): \(trouble)", mark: .attention, fields: [("pipeline", .text(pipeline))])
        case .pruning(let pipeline, nil):
            self.init(
                "pruning", "\(pipeline): originals that are kept no longer can be removed",
                fields: [("pipeline", .text(pipeline))])
        case .trouble(let message): self.init("trouble", message, mark: .failed, fields: [])
        case .reloaded(let changes, let settings):
            let more = settings.isEmpty ? [] : ["settings: changed (\(settings.joined(separator: ", ")))"]
            let news = changes.filter { $0.kind != .unchanged }.map { "\($0.pipeline): \($0.text)" } + more
            let all = changes.map { "\($0.pipeline): \($0.text)" } + more
            self.init(
                "reloaded", news.isEmpty ? "reloaded: nothing was changed" : "reloaded", notes: news,
                fields: [("changes", .list(all.map { Array($0.utf8) }))])
        case .stopping(let running, let grace):
            let what = running == 1 ? "1 job" : "\(running) jobs"
            self.init(
                "stopping", running == 0 ? "stopping" : "stopping: \(what) may finish within \(grace.text)",
                fields: [("running", .integer(Int64(running))), ("grace_s", .seconds(grace))])
        }
    }

    /// The end of a job: where it went, its size, its time and that of each stage.
    private init(settled report: JobReport, subject: String) {
        let size = report.job.drop.size
        let times = report.stages.map { "\($0.kind) \($0.duration.text)" }.joined(separator: ", ")
        let target = Self.target(of: report)?.shortText ?? "deleted"
        let message =
            "\(subject) → \(target), \(ByteSize(bytes: size)), \(report.duration.text)"
            + (times.isEmpty ? "" : " (\(times))")
        var fields =
            Self.fields(report.job) + [
                ("size", .integer(size)), ("duration_s", .seconds(report.duration)),
                ("stages", .times(report.stages.map { ($0.kind, $0.duration) })),
            ]
        if let original = report.original { fields.append(("original", .bytes(original.bytes))) }
        if !report.outputs.isEmpty { fields.append(("outputs", .list(report.outputs.map(\.bytes)))) }
        switch report.outcome {
        case .processed: self.init("processed", message, mark: .processed, fields: fields)
        case .failed(let failure) where failure.isRelease:
            self.init(
                "released", "\(subject) released → \(target)", notes: [failure.summary],
                fields: fields + Self.fields(failure))
        case .failed(let failure) where failure.isCancel:
            self.init("cancelled", message, notes: [failure.summary], fields: fields + Self.fields(failure))
        case .failed(let failure):
            self.init(
                "failed", message, mark: .failed, notes: [failure.summary, failure.remedy],
                fields: fields + Self.fields(failure))
        }
    }

    /// Where to find the result: what was published, unless that is merely a sidecar of the original.
    private static func target(of report: JobReport) -> FilePath? {
        guard let original = report.original else { return report.outputs.first }
        guard report.outcome == .processed else { return original }
        return report.outputs.first { !$0.isBeside(original) } ?? original
    }

    // MARK: Parts

    private static func prefix(_ pipeline: String, _ isShown: Bool) -> String { isShown ? "\(pipeline): " : "" }

    private static func fields(_ job: Job) -> [Field] {
        [("pipeline", .text(job.pipeline)), ("job", .text(job.id.text)), ("name", .bytes(job.drop.path.bytes))]
            + (job.producer.map { [("producer", .text($0))] } ?? [])
    }

    private static func fields(_ hold: HoldRecord) -> [Field] {
        [
            ("pipeline", .text(hold.pipeline)), ("kind", .text(hold.kind.rawValue)), ("by", .text(hold.by)),
            ("since", .text(hold.since.iso8601)), ("reason", .text(hold.reason)),
        ] + (hold.until.map { [("until", .text($0.iso8601))] } ?? [])
    }

    private static func fields(_ failure: Failure) -> [Field] {
        [
            ("code", .text(failure.code)), ("reason", .text(failure.summary)), ("remedy", .text(failure.remedy)),
            ("detail", .text(failure.detail)),
        ]
    }
}
