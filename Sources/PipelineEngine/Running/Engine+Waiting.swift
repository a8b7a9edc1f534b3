@preconcurrency import Dispatch
import PipelineKit
import Synchronization

extension Engine {
    /// Tells what waits in each inbox, on a queue of the engine: by pipeline, of each kind at most `limit`. Costs one
    /// look at every name that waits.
    package nonisolated func tellWaiting(limit: Int, _ told: @escaping @Sendable ([String: InboxSnapshot]) -> Void) {
        enqueue { engine in
            let snapshots = Gathering()
            let group = DispatchGroup()
            for runner in engine.runners {
                let name = runner.pipeline.name
                group.enter()
                runner.intake.tell(limit: limit) { @Sendable snapshot in
                    snapshots.add(snapshot, name)
                    group.leave()
                }
            }
            group.notify(queue: engine.executor.queue) { @Sendable in told(snapshots.all) }
        }
    }

    /// Tells what one file of a pipeline's inbox waits for, by its path from the inbox on; nil for one that is not
    /// known there.
    package nonisolated func tellWaiting(
        _ path: [UInt8], of pipeline: String, _ told: @escaping @Sendable (WaitingDrop?) -> Void
    ) {
        enqueue { engine in
            guard let runner = engine.runners.first(where: { $0.pipeline.name == pipeline }) else { return told(nil) }
            runner.intake.tell(of: path, told)
        }
    }
}

private final class Gathering: Sendable {
    private let snapshots = Mutex<[String: InboxSnapshot]>([:])

    var all: [String: InboxSnapshot] { snapshots.withLock { $0 } }

    func add(_ snapshot: InboxSnapshot, _ name: String) { snapshots.withLock { $0[name] = snapshot } }
}
