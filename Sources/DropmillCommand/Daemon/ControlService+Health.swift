import Journal
import PipelineEngine

extension ControlService {
    static func health(_ engine: Engine, _ reloader: Reloader) -> ControlHandler {
        let probe = JournalProbe { @Sendable () throws(JournalError) in try engine.probeJournal() }
        return ControlHandler(
            HealthVerb.self,
            blocking: { @Sendable _, _ throws(ControlProblem) in
                let health = engine.health
                var answer = HealthVerb.Answer(
                    pipelines: health.pipelines, jobs: health.jobs, paused: health.paused.mapValues(\.summary),
                    stalled: health.stalled.mapValues(\.text))
                if case .refused(let problems) = reloader.last?.outcome { answer.refused = problems }
                if health.isStopping { answer.stopping = true } else { answer.journal = probe.problem }
                return answer
            })
    }
}
