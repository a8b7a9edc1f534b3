import Files
import PipelineKit

extension Engine {
    /// Reports pages of the drops of some inboxes, by their pipelines' names, on a queue of the engine. Those that do
    /// not answer in time are left out. `question`: what each is asked; nil: it is not asked.
    package nonisolated func reportDrops(
        within patience: Duration = .seconds(4), _ question: @escaping @Sendable (_ pipeline: String) -> DropQuestion?,
        _ report: @escaping @Sendable ([String: DropListing]) -> Void
    ) {
        enqueue { engine in
            let (now, silence) = (MonotonicTime.now(), min(engine.stall, Engine.longSilence))
            let asked = engine.runners.compactMap { runner in
                runner.movement.isSilent(for: silence, at: now)
                    ? nil : question(runner.pipeline.name).map { (runner, $0) }
            }
            let gathering = Gathering<DropListing>(of: asked.map(\.0.pipeline.name)) { @Sendable [self] found, _ in
                enqueue { _ in report(found) }
            }
            for (runner, question) in asked {
                let name = runner.pipeline.name
                runner.intake.reportListing(question) { @Sendable in gathering.add($0, name) }
            }
            self.executor.queue.after(patience) { @Sendable in gathering.end() }
        }
    }
}
