import Files
import PipelineEngine
import PipelineKit
import Readiness

extension MillEvent {
    /// What the engine reports.
    init(_ event: EngineEvent) {
        switch event {
        case .started(let pipeline, let inbox, let adopted):
            let found = adopted == 0 ? "" : ", \(adopted) unfinished from the last run"
            self.init(.started, of: pipeline, "watching \(inbox.text)\(found)")
        case .watching(let pipeline, .events, let reason):
            self.init(.watching, of: pipeline, "watching with events again: \(reason)")
        case .watching(let pipeline, .polling(let interval), let reason):
            self.init(.watching, of: pipeline, "polling every \(interval.text): \(reason)")
        case .writers(let pipeline, let means, let quiet):
            self.init(.writers, of: pipeline, means.text(quiet: quiet))
        case .refused(let pipeline, let path, let reason):
            self.init(.refused, of: pipeline, "\(path.text) stays in the inbox: \(reason)")
            drop = path
        case .claimed(let job, let isAdopted):
            self.init(.claimed, job, isAdopted ? "found in the work folder" : "claimed")
        case .stillWritten(let job, let reason): self.init(.stillWritten, job, "waits: \(reason)")
        case .stageStarted(let job, let stage): self.init(.stageStarted, job, "\(stage) begins", stage)
        case .stageProgress(let job, let stage, let running, let progress):
            let done = progress.bytes > 0 ? ", \(ByteSize(bytes: progress.bytes))" : ""
            self.init(.stageProgress, job, "\(stage) has run for \(running.text)\(done)", stage)
        case .stageFinished(let job, let stage, _): self.init(.stageFinished, job, "\(stage) is done", stage)
        case .deferred(let job, let stage, let failure, let delay):
            self.init(
                .deferred, job, "\(stage) failed, retrying in \(delay.text): \(Self.sentences(failure))", stage, failure
            )
        case .settled(let report): self.init(report)
        case .paused(let pipeline, let failure):
            self.init(.paused, of: pipeline, "paused: \(Self.sentences(failure))")
            self.failure = failure
        case .resumed(let pipeline, let pause): self.init(.resumed, of: pipeline, "resumed after \(pause.text)")
        case .stalled(let pipeline, let stall):
            self.init(.warning, of: pipeline, "stalled: \(stall.text); \(stall.remedy(pipeline))")
        case .moving(let pipeline, let time): self.init(.warning, of: pipeline, "moves again after \(time.text)")
        case .held(let hold): self.init(.paused, of: hold.pipeline, hold.news)
        case .lifted(let hold, let name): self.init(.resumed, of: hold.pipeline, hold.end(by: name))
        case .closed(let pipeline, let text): self.init(.paused, of: pipeline, text)
        case .opened(let pipeline): self.init(.resumed, of: pipeline, "its hours have begun")
        case .warning(let pipeline, let message): self.init(.warning, of: pipeline, message)
        // The daemon's alone.
        case .archiving(let trouble?): self.init(.warning, of: nil, trouble)
        case .archiving(nil): self.init(.warning, of: nil, "the history can be archived")
        case .historyEnded(_, let message), .trouble(let message): self.init(.warning, of: nil, message)
        case .pruned(let pipeline, _, let message): self.init(.warning, of: pipeline, message)
        case .pruning(let pipeline, let trouble):
            self.init(.warning, of: pipeline, trouble ?? "originals that are kept no longer can be removed")
        case .reloaded(let changes, _):
            self.init(.reloaded, changes.map { "\($0.pipeline): \($0.text)" }.joined(separator: "; "))
        case .stopping(let running, let grace):
            let what = running == 1 ? "1 job" : "\(running) jobs"
            self.init(.stopping, running == 0 ? "stopping" : "stopping: \(what) may finish within \(grace.text)")
        }
    }

    /// The end of a job.
    private init(_ report: JobReport) {
        let place = report.outputs.first ?? report.original
        switch report.outcome {
        case .processed: self.init(.processed, report.job, "→ \(place?.text ?? "deleted")")
        case .failed(let failure) where failure.isRelease:
            self.init(.released, report.job, "→ \(report.original?.text ?? "its inbox"): \(failure.summary)")
        case .failed(let failure):
            self.init(
                .failed, report.job, "→ \(report.original?.text ?? "deleted"): \(Self.sentences(failure))", nil, failure
            )
        }
        outputs = report.outputs
        original = report.original
    }

    private init(_ kind: Kind, of pipeline: String?, _ text: String) {
        self.init(kind, pipeline.map { "\($0): \(text)" } ?? text)
        self.pipeline = pipeline
    }

    private init(_ kind: Kind, _ job: Job, _ text: String, _ stage: String? = nil, _ failure: Failure? = nil) {
        self.init(kind, of: job.pipeline, "\(job.drop.path.text) \(text)")
        self.job = job.id
        drop = job.drop.path
        self.stage = stage
        self.failure = failure
    }

    private static func sentences(_ failure: Failure) -> String {
        failure.remedy.isEmpty ? failure.summary : "\(failure.summary) \(failure.remedy)"
    }
}
