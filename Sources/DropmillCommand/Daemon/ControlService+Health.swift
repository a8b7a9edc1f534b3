import Journal
import PipelineEngine

extension ControlService {
    static func health(_ engine: Engine, _ reloader: Reloader) -> ControlHandler {
        ControlHandler(
            HealthVerb.self,
            blocking: { @Sendable _, _ throws(ControlProblem) in
                let health = engine.health
                var answer = HealthVerb.Answer(
                    pipelines: health.pipelines, jobs: health.jobs, paused: health.paused.mapValues(\.summary),
                    stalled: health.stalled.mapValues(\.text))
                if case .refused(let problems) = reloader.last?.outcome { answer.refused = problems }
                do throws(JournalError) { try engine.probeJournal() } catch { answer.journal = error.message }
                return answer
            })
    }
}
