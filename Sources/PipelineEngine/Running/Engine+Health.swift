package import Journal

extension Engine {
    /// How it is now. Waits for the engine's queue, and for no disk.
    package nonisolated var health: EngineHealth {
        sync { engine in
            var health = EngineHealth(pipelines: engine.runners.count)
            for runner in engine.retired + engine.runners { health.jobs += runner.machine.jobs.count + runner.parked }
            for runner in engine.runners where runner.machine.pause.isPaused {
                health.paused[runner.pipeline.name] = runner.machine.pause.reason
            }
            return health
        }
    }

    /// Writes to the journal, to see that it can be written. Blocks.
    package nonisolated func probeJournal() throws(JournalError) {
        try sync { $0.opened }?.journal.probe()
    }
}
