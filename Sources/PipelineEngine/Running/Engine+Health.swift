import Glibc
package import Journal
package import PipelineKit

extension Engine {
    /// How it is now. Waits for the engine's queue, and for no disk.
    package nonisolated var health: EngineHealth {
        sync { $0.presentHealth }
    }

    var presentHealth: EngineHealth {
        var health = EngineHealth(pipelines: runners.count, isStopping: isStopping)
        for runner in all { health.jobs += runner.unfinished }
        health.stalled = stalls
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

    var stalls: [String: Stall] {
        var stalls: [String: Stall] = [:]
        for runner in all { stalls[runner.pipeline.name] = runner.movement.stall ?? stalls[runner.pipeline.name] }
        return stalls
    }

    /// From when on a pipeline is stalled from now on.
    package nonisolated func setStall(_ limit: Duration) { enqueue { $0.stall = limit } }

    /// How long the journal keeps jobs that are over, from now on.
    package nonisolated func keepHistory(_ rule: HistoryRule) { enqueue { $0.opened?.keepHistory(rule) } }

    /// How many stages of all pipelines may run at once, from now on; nil: as many as there are workers.
    package nonisolated func setJobsAtOnce(_ most: Int?) { slots.set(most) }

    /// Calls the body once all pipelines have looked at their inboxes, but not later than after so long: an inbox may
    /// be where nothing answers.
    package nonisolated func whenWatching(within limit: Duration, _ body: @escaping @Sendable () -> Void) {
        reportWaiting(limit: 0, within: limit) { @Sendable _ in body() }
    }

    /// Writes to the journal, to see that it can be written: what waits for that, then a little more. Blocks.
    package nonisolated func probeJournal() throws(JournalError) {
        guard let opened = sync({ $0.opened }) else { return }
        try opened.writer.flush()
        try opened.journal.probe()
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
