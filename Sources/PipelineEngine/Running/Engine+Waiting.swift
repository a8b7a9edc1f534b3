@preconcurrency import Dispatch
import Files
package import SystemPackage

extension Engine {
    /// Reports what waits in each inbox, on a queue of the engine: of each kind at most `limit`. Those that do not
    /// answer in time are left out, and named. Costs one look at every name that waits.
    package nonisolated func reportWaiting(
        limit: Int, within patience: Duration = .seconds(4), _ report: @escaping @Sendable (WaitingReport) -> Void
    ) {
        enqueue { engine in
            let (now, silence) = (MonotonicTime.now(), min(engine.stall, Self.longSilence))
            let isSilent = { (runner: PipelineRunner) in runner.movement.isSilent(for: silence, at: now) }
            let silent = Set(engine.runners.filter(isSilent).map(\.pipeline.name))
            let asked = engine.runners.filter { !isSilent($0) }
            let names = asked.map(\.pipeline.name)
            let gathering = Gathering<InboxSnapshot>(of: names) { @Sendable [self] inboxes, busy in
                enqueue { engine in
                    var gathered = WaitingReport(inboxes: inboxes, busy: busy)
                    (gathered.silent, gathered.stalled) = (silent.union(engine.awaited.keys), engine.stalls)
                    gathered.outside = engine.runners.reduce(into: [:]) { $0[$1.pipeline.name] = $1.outside }
                    gathered.isStopping = engine.isStopping
                    gathered.ending = engine.ending
                    gathered.unwritten = (engine.opened?.writer.unwritten ?? [])
                        .reduce(into: [:]) { $0[$1.pipeline, default: 0] += 1 }
                    report(gathered)
                }
            }
            for runner in asked {
                let name = runner.pipeline.name
                runner.intake.reportSnapshot(limit: limit) { @Sendable in gathering.add($0, name) }
            }
            self.executor.queue.after(patience) { @Sendable in gathering.end() }
        }
    }

    /// The names of pipelines that are not loaded any more and have jobs at work that others take over: these get a job
    /// once nothing of it is under way.
    private var ending: Set<String> {
        let former = Set(runners.compactMap(\.pipeline.formerly)).subtracting(runners.map(\.pipeline.name))
        guard !former.isEmpty else { return [] }
        return former.filter { name in
            all.contains { runner in runner.jobs.values.contains { $0.record.pipeline == name } }
        }
    }

    /// An inbox that has not answered for so long is silent, rather than busy, and not asked again: what is asked would
    /// gather there.
    static var longSilence: Duration { .seconds(60) }

    /// These are added once their folders answer, and which do not: by their names. Until then their jobs are left
    /// alone, and people can hold them.
    package nonisolated func wait(for awaited: [String: FilePath]) { sync { $0.awaited = awaited } }

    /// Reports how each pipeline stands, in order, on a queue of the engine.
    package nonisolated func reportStanding(_ report: @escaping @Sendable ([PipelineStanding]) -> Void) {
        reportWaiting(limit: 0) { @Sendable [self] waiting in
            assumeIsolated { engine in
                report(
                    engine.runners.map { runner in
                        let name = runner.pipeline.name
                        return PipelineStanding(
                            runner, others: (engine.retired + engine.tails).filter { $0.pipeline.name == name },
                            inbox: waiting.inboxes[name])
                    })
            }
        }
    }

    /// Reports what one file of a pipeline's inbox waits for, by its path from the inbox on; nil for one that is not
    /// known there, nor claimed without the journal knowing it.
    package nonisolated func reportWaiting(
        _ path: [UInt8], of pipeline: String, _ report: @escaping @Sendable (WaitingDrop?) -> Void
    ) {
        enqueue { engine in
            guard let runner = engine.runners.first(where: { $0.pipeline.name == pipeline }) else { return report(nil) }
            let unwritten = engine.opened?.writer.unwritten.last {
                $0.pipeline == pipeline && $0.drop.path.bytes == path
            }
            runner.intake.reportWaiting(of: path) { @Sendable drop in
                report(
                    drop
                        ?? unwritten.map {
                            WaitingDrop(path: path, known: nil, waiting: .unwritten(job: $0.id.text), isClaimed: true)
                        })
            }
        }
    }
}
