import Files

/// Whether anything moves.
extension PipelineRunner {
    /// Looks at the jobs, asks the inbox how many drops wait, and reports what is news. `limit`: from when on what
    /// rests is stalled.
    func checkMovement(at now: MonotonicTime, limit: Duration) {
        if !machine.isRetired, movement.asks(at: now) {
            intake.reportWaitingCount { @Sendable [later] in later(.zero) { $0.movement.answered() } }
        }
        switch movement.look(marks, at: now, limit: limit) {
        case .stalls(let stall): observer(.stalled(pipeline: pipeline.name, stall))
        case .moves(let time): observer(.moving(pipeline: pipeline.name, after: time))
        case nil: break
        }
    }

    /// What is at work and may be: each job that a worker has and each settlement by itself, so that one that hangs is
    /// seen among others that move; else all together.
    private var marks: [StallDetector.Mark] {
        guard !isQuiet, !machine.pause.isPaused, hold?.kind != .pause else { return [] }
        var marks = settler.running.map { job, moves in
            StallDetector.Mark(subject: .settlement(job.id, job.drop.path), moves: moves)
        }
        for (stage, workers) in zip(pipeline.allStages, workers) {
            marks += workers.running.map { running in
                let job = running.work.job
                return .init(subject: .stage(job.id, job.drop.path, stage.kind), moves: running.progress.moves)
            }
        }
        // What waits for its turn among all pipelines, or nodes, rests for as long as the others work.
        guard marks.isEmpty, !slots.isAwaited(by: pipeline.name), !(fleet?.isAwaited(by: pipeline.name) ?? false) else {
            return marks
        }
        return [.init(subject: .all, moves: moves)]
    }
}
