import PipelineKit

extension PipelineRunner {
    /// Stops the pipeline, or after a probe that failed lets it wait longer.
    func stopWorking(because failure: StageFailure) {
        intake.pause(because: failure)
        if pause.isPaused {
            // Others that were running fail for the same reason; only the probe's failure says something new.
            guard let probing = pause.probing, held.last == probing else { return }
            pause.probing = nil
            pause.delay = min(pause.delay * 2, PauseState.longestDelay)
        } else {
            // Trouble that comes back at once is the same trouble. What is tried next may fare better than what fails.
            let isNews = !pause.isOnTrial || pause.reason?.code != failure.code
            let isRelapse = pause.isOnTrial || MonotonicTime.now() - pause.ended < pause.delay * 2
            let isSame = isRelapse && (pause.reason ?? pause.last)?.code == failure.code
            pause.delay = isRelapse ? min(pause.delay * 2, PauseState.longestDelay) : PauseState.firstDelay
            pause.reason = failure
            pause.isOnTrial = false
            if !isSame {
                pause.since = .now()
                pause.pausedAt = .now()
            }
            note()
            for stage in workers {
                for work in stage.withdraw() {
                    busy.remove(work.job.id)
                    held.append(work.job.id)
                }
            }
            if isNews { observer(.paused(pipeline: pipeline.name, failure)) }
        }
        later(pause.delay) { runner in runner.probe() }
    }

    /// The intake cannot go on, or still cannot.
    func intakeFailed(_ failure: StageFailure) {
        guard pause.isPaused else {
            stopWorking(because: failure)
            pause.isIntakes = true
            return
        }
        guard pause.isAskingIntake else { return }
        pause.isAskingIntake = false
        pause.delay = min(pause.delay * 2, PauseState.longestDelay)
        later(pause.delay) { runner in runner.probe() }
    }

    /// The intake can go on.
    func intakeRecovered() {
        if pause.isIntakes || pause.isAskingIntake { goOn() }
    }

    /// Lets one held job try; without any, or without the folder that all of them are in, the intake.
    private func probe() {
        guard pause.isPaused, pause.probing == nil, !isStopping else { return }
        guard !pause.isIntakes, !held.isEmpty else { return probe(isInPlace: false) }
        ask({ $0.isInPlace }, then: { runner, isInPlace in runner.probe(isInPlace: isInPlace) })
    }

    /// `isInPlace`: whether jobs find their folders.
    private func probe(isInPlace: Bool) {
        guard pause.isPaused, pause.probing == nil, !isStopping else { return }
        while !pause.isIntakes, isInPlace, let id = held.first {
            held.removeFirst()
            guard jobs[id] != nil else { continue }
            pause.probing = id
            return again(id)
        }
        guard !pause.isAskingIntake else { return }
        pause.isAskingIntake = true
        intake.probe()
    }

    /// The surroundings are well again, as far as can be told: everything that was held goes on.
    func goOn() {
        guard pause.isPaused else { return }
        // What the intake can look at need not be what it could not do.
        pause.isOnTrial = pause.probing == nil
        pause.probing = nil
        pause.isIntakes = false
        pause.isAskingIntake = false
        if pause.isOnTrial {
            later(PauseState.trial) { [since = pause.since] runner in
                if runner.pause.since == since { runner.endTrial() }
            }
        } else {
            recovered()
        }
        let waiting = held
        held = []
        for id in waiting { again(id) }
        intake.resume()
    }

    /// Something was claimed, or nothing has failed for a while.
    func endTrial() {
        guard pause.isOnTrial else { return }
        pause.isOnTrial = false
        recovered()
    }

    private func recovered() {
        let paused = MonotonicTime.now() - pause.since
        (pause.last, pause.reason) = (pause.reason, nil)
        pause.ended = .now()
        note()
        observer(.resumed(pipeline: pipeline.name, after: paused))
    }

    /// Does what a held job's state asks for.
    private func again(_ id: JobID) {
        switch jobs[id]?.state {
        case .queued(let stage, _): perform(.run(stage: stage), id)
        case .settling(let outcome): perform(.settle(outcome), id)
        default: break
        }
    }
}
