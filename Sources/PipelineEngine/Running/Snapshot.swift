@preconcurrency import Dispatch
package import PipelineKit
import Synchronization

/// A file or folder that is in an inbox and not claimed, or claimed and still being written, and what it waits for.
package struct WaitingDrop: Sendable, Equatable {
    /// Its path from the inbox on, as bytes.
    package let path: [UInt8]
    /// How long it has been known; nil where that is not kept.
    package let known: Duration?
    /// What it waits for, or why it is left alone.
    package let waiting: Waiting
    /// Whether it is in the work folder already, because it was open for writing when it was claimed.
    package let isClaimed: Bool

    /// A drop.
    package init(path: [UInt8], known: Duration?, waiting: Waiting, isClaimed: Bool = false) {
        self.path = path
        self.known = known
        self.waiting = waiting
        self.isClaimed = isClaimed
    }
}

/// What is in one inbox at one moment.
package struct InboxSnapshot: Sendable {
    /// How it is watched; nil where it is not.
    package var watching: WatchMode?
    /// How many drops wait.
    package var waiting = 0
    /// Those of them that are known for longest, as many as were asked for.
    package var longest: [WaitingDrop] = []
    /// How many files are left alone: refused as they are.
    package var leftCount = 0
    /// Some of these.
    package var left: [WaitingDrop] = []
    /// Why nothing is claimed; nil where that is not so.
    package var paused: StageFailure?
}

extension Engine {
    /// Tells what waits in each inbox, on a queue of the engine: by pipeline, of each kind at most `limit`. Costs one
    /// look at every name that waits.
    package func tellWaiting(limit: Int, _ told: @escaping @Sendable ([String: InboxSnapshot]) -> Void) {
        queue.async { @Sendable [self] in
            let snapshots = Gathering()
            let group = DispatchGroup()
            for runner in runners {
                let name = runner.pipeline.name
                group.enter()
                runner.intake.tell(limit: limit) { @Sendable snapshot in
                    snapshots.add(snapshot, name)
                    group.leave()
                }
            }
            group.notify(queue: queue) { @Sendable in told(snapshots.all) }
        }
    }

    /// Tells what one file of a pipeline's inbox waits for, by its path from the inbox on; nil for one that is not
    /// known there.
    package func tellWaiting(
        _ path: [UInt8], of pipeline: String, _ told: @escaping @Sendable (WaitingDrop?) -> Void
    ) {
        queue.async { @Sendable [self] in
            guard let runner = runners.first(where: { $0.pipeline.name == pipeline }) else { return told(nil) }
            runner.intake.tell(of: path, told)
        }
    }
}

private final class Gathering: Sendable {
    private let snapshots = Mutex<[String: InboxSnapshot]>([:])

    var all: [String: InboxSnapshot] { snapshots.withLock { $0 } }

    func add(_ snapshot: InboxSnapshot, _ name: String) { snapshots.withLock { $0[name] = snapshot } }
}
