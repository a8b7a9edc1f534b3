import Glibc
package import Journal
import Synchronization

extension Engine {
    /// How it is now. Waits for the engine's queue, and for no disk.
    package nonisolated var health: EngineHealth {
        sync { $0.presentHealth }
    }

    var presentHealth: EngineHealth {
        var health = EngineHealth(pipelines: runners.count)
        for runner in all { health.jobs += runner.unfinished }
        for runner in runners {
            let (name, pause) = (runner.pipeline.name, runner.machine.pause)
            health.waiting += runner.waiting
            if pause.isPaused { health.paused[name] = pause.reason }
            if pause.isPaused || holds[name] != nil { health.held += 1 }
        }
        for tail in tails where tail.machine.pause.isPaused && health.paused[tail.pipeline.name] == nil {
            health.paused[tail.pipeline.name] = tail.machine.pause.reason
        }
        return health
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

    /// Calls `heard` when the engine's queue has its turn, and then `written` when the journal's writer has written, or
    /// could not.
    package nonisolated func probe(
        _ heard: @escaping @Sendable () -> Void, written: @escaping @Sendable () -> Void
    ) {
        enqueue { engine in
            heard()
            guard let writer = engine.opened?.writer else { return written() }
            writer.probe(written)
        }
    }

    #if DEBUG
        /// For the test of the watchdog: blocks the queue for good if the file is there that this variable names.
        func blockIfAsked() {
            guard let path = getenv("DROPMILL_TEST_BLOCKED"), unlink(path) == 0 else { return }
            while true { pause() }
        }
    #endif
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
