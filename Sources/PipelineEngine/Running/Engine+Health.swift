package import Journal
import Synchronization

extension Engine {
    /// How it is now. Waits for the engine's queue, and for no disk.
    package nonisolated var health: EngineHealth {
        sync { engine in
            var health = EngineHealth(pipelines: engine.runners.count)
            for runner in engine.retired + engine.runners { health.jobs += runner.machine.jobs.count + runner.parked }
            for runner in engine.runners {
                let (name, pause) = (runner.pipeline.name, runner.machine.pause)
                health.waiting += runner.waiting
                if pause.isPaused { health.paused[name] = pause.reason }
                if pause.isPaused || engine.holds[name] != nil { health.held += 1 }
            }
            return health
        }
    }

    /// Calls the body once all pipelines have begun and looked at their inboxes, but not later than so long after they
    /// began: an inbox may be where nothing answers.
    package nonisolated func whenWatching(within limit: Duration, _ body: @escaping @Sendable () -> Void) {
        let isDone = Once()
        enqueue { engine in
            engine.afterBeginning { @Sendable [self] in
                reportWaiting(limit: 0) { @Sendable _ in isDone.first(body) }
                executor.queue.after(limit) { @Sendable in isDone.first(body) }
            }
        }
    }

    /// Writes to the journal, to see that it can be written. Blocks.
    package nonisolated func probeJournal() throws(JournalError) {
        try sync { $0.opened }?.journal.probe()
    }
}

/// Calls the first body that it is given.
private final class Once: Sendable {
    private let isDone = Mutex(false)

    func first(_ body: () -> Void) {
        let isFirst = isDone.withLock { isDone in
            defer { isDone = true }
            return !isDone
        }
        if isFirst { body() }
    }
}
