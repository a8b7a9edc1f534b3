@preconcurrency import Dispatch
import Synchronization

extension Engine {
    /// Reports what waits in each inbox, on a queue of the engine: by pipeline, of each kind at most `limit`. Costs one
    /// look at every name that waits.
    package nonisolated func reportWaiting(limit: Int, _ report: @escaping @Sendable ([String: InboxSnapshot]) -> Void)
    {
        enqueue { engine in
            let snapshots = Gathering()
            let group = DispatchGroup()
            for runner in engine.runners {
                let name = runner.pipeline.name
                group.enter()
                runner.intake.reportSnapshot(limit: limit) { @Sendable snapshot in
                    snapshots.add(snapshot, name)
                    group.leave()
                }
            }
            group.notify(queue: engine.executor.queue) { @Sendable in report(snapshots.all) }
        }
    }

    /// Reports how each pipeline stands, in order, on a queue of the engine.
    package nonisolated func reportStanding(_ report: @escaping @Sendable ([PipelineStanding]) -> Void) {
        reportWaiting(limit: 0) { @Sendable [self] inboxes in
            assumeIsolated { engine in
                report(
                    engine.runners.map { runner in
                        let name = runner.pipeline.name
                        return PipelineStanding(
                            runner, others: (engine.retired + engine.tails).filter { $0.pipeline.name == name },
                            inbox: inboxes[name])
                    })
            }
        }
    }

    /// Reports what one file of a pipeline's inbox waits for, by its path from the inbox on; nil for one that is not
    /// known there.
    package nonisolated func reportWaiting(
        _ path: [UInt8], of pipeline: String, _ report: @escaping @Sendable (WaitingDrop?) -> Void
    ) {
        enqueue { engine in
            guard let runner = engine.runners.first(where: { $0.pipeline.name == pipeline }) else { return report(nil) }
            runner.intake.reportWaiting(of: path, report)
        }
    }
}

private final class Gathering: Sendable {
    private let snapshots = Mutex<[String: InboxSnapshot]>([:])

    var all: [String: InboxSnapshot] { snapshots.withLock { $0 } }

    func add(_ snapshot: InboxSnapshot, _ name: String) { snapshots.withLock { $0[name] = snapshot } }
}
