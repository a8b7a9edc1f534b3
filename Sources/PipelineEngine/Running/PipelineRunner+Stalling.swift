import Files

/// Whether anything moves.
extension PipelineRunner {
    /// Looks at the jobs, asks the inbox how many drops wait, and reports what is news. `limit`: from when on what
    /// rests is stalled.
    func checkMovement(at now: MonotonicTime, limit: Duration) {
        if !machine.isRetired, movement.asks(at: now) {
            intake.reportWaitingCount { @Sendable [later] in later(.zero) { $0.movement.answered() } }
        }
        switch movement.look(mark, at: now, limit: limit) {
        case .stalls(let stall): observer(.stalled(pipeline: pipeline.name, stall))
        case .moves(let time): observer(.moving(pipeline: pipeline.name, after: time))
        case nil: break
        }
    }

    /// What moves of what is at work; nil where nothing is, or nothing may.
    private var mark: StallDetector.Mark? {
        guard !isQuiet, !machine.pause.isPaused, hold?.kind != .pause else { return nil }
        var mark = StallDetector.Mark(events: moves)
        for running in workers.flatMap(\.running) {
            mark.bytes &+= running.progress.bytes
            mark.entries &+= running.progress.entries
        }
        return mark
    }
}
