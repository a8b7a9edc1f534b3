import Control
import Journal
import PipelineEngine

extension ControlService {
    static func health(_ engine: Engine, _ reloader: Reloader) -> ControlHandler {
        let probe = JournalProbe { @Sendable () throws(JournalError) in try engine.probeJournal() }
        return ControlHandler(
            HealthVerb.self,
            blocking: { @Sendable _, _ throws(ControlProblem) in answer(engine, reloader, probe) })
    }

    /// How the daemon is. Blocks.
    static func answer(_ engine: Engine, _ reloader: Reloader, _ probe: JournalProbe) -> HealthVerb.Answer {
        let health = engine.health
        let journal = health.isStopping ? nil : probe.problem
        // What the journal's trouble pauses need not be told beside it.
        let paused = health.paused.filter { journal == nil || $0.value.code != JournalError.code }
        var answer = HealthVerb.Answer(
            pipelines: health.pipelines, jobs: health.jobs, paused: paused.mapValues(\.summary),
            stalled: health.stalled.mapValues(\.text))
        let silent = reloader.silent.map { ($0.file.lastName?.text ?? $0.file.text, $0.text) }
        if !silent.isEmpty { answer.silent = Dictionary(silent) { first, _ in first } }
        if case .refused(let problems) = reloader.last?.outcome { answer.refused = problems }
        if health.isStopping { answer.stopping = true }
        answer.journal = journal
        return answer
    }
}
