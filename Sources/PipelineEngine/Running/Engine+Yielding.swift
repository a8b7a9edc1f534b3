@preconcurrency import Dispatch
import Files

/// Where the daemon died, the jobs that it may have died of run alone first, so that no other is blamed if it dies
/// again. Pipelines watch their inboxes meanwhile, and nothing waits for ever for a job that takes long.
extension Engine {
    func beginYielding() {
        let (count, limit) = (quarantine.count, configuration.yielding)
        isYielding = true
        for runner in runners { runner.yield(true) }
        let jobs =
            count == 1
            ? "1 job that was running when the daemon stopped runs alone"
            : "\(count) jobs that were running when the daemon stopped run alone, one after the other"
        observer(
            .warning(pipeline: nil, message: "\(jobs); all others go on after that, in \(limit.text) at the latest"))
        executor.queue.after(limit) { @Sendable [weak self] in
            self?.assumeIsolated { engine in
                engine.endYielding()
                engine.finishIfDone()
            }
        }
    }

    func endYielding() {
        guard isYielding else { return }
        isYielding = false
        for runner in all {
            runner.yield(false)
            runner.endTurn()
        }
    }
}
