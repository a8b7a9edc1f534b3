import PipelineKit

/// What follows for one job.
extension JobMachine {
    /// Sets its state and carries out what follows.
    mutating func go(_ id: JobID, to state: JobState, _ turn: inout Turn) {
        jobs[id]?.state = state
        begin(id, &turn)
    }

    /// Does what its state asks for, if it may.
    mutating func begin(_ id: JobID, _ turn: inout Turn) {
        guard let entry = jobs[id] else { return }
        guard !entry.isQuarantined else {
            jobs[id]?.holder = .quarantine
            turn.effects += [.write(id), .quarantine(id)]
            return
        }
        guard !isRetired || entry.isIntended else { return hold(id, &turn) }
        let mayGoOn = !pause.isPaused || pause.probing == id
        switch entry.state {
        case .queued(let stage, _), .running(let stage, _), .deferred(let stage, _, _):
            guard stage < rules.stages else { return go(id, to: .settling(.processed), &turn) }
            jobs[id]?.state = .queued(stage: stage, failures: entry.state.failures)
            guard mayGoOn, !isStopping else { return hold(id, &turn) }
            guard mayBegin(entry) else { return holdBack(id, &turn) }
            jobs[id]?.holder = .workers
            let isCommitted = entry.recoveries > 0 || entry.mayBeIntended
            turn.effects += [.write(id), .run(id, stage: stage, isCommitted: isCommitted)]
        case .settling(let outcome):
            // Finished jobs are settled even while the engine stops, which is quick.
            guard mayGoOn else { return hold(id, &turn) }
            guard !isYielding || entry.isAdmitted else { return holdBack(id, &turn) }
            end(id, outcome, &turn)
        }
    }

    /// Has failures notified, then settled. Where the daemon may have crashed because of the job that is counted first,
    /// unless a stage has run: that was on record, and others that finished later are not to overtake it meanwhile.
    mutating func end(_ id: JobID, _ outcome: JobState.Outcome, _ turn: inout Turn) {
        guard let entry = jobs[id] else { return }
        let mayCrash = entry.recoveries >= (entry.hasRun ? rules.quarantineAfter : 1)
        guard !mayCrash || entry.isCounted else {
            jobs[id]?.recoveries += 1
            jobs[id]?.isCounted = true
            jobs[id]?.holder = .journal
            return turn.effects.append(.count(id))
        }
        guard case .failed(let failure) = outcome, !failure.isRelease, !entry.isIntended,
            entry.notified < rules.notifications
        else {
            return handOver(id, outcome, &turn)
        }
        // What may have crashed the daemon twice goes to `failed` all the same.
        guard entry.recoveries <= rules.quarantineAfter else {
            turn.effects.append(.skipNotification(id))
            return handOver(id, outcome, &turn)
        }
        jobs[id]?.holder = .look
        turn.effects.append(.look(id))
    }

    mutating func handOver(_ id: JobID, _ outcome: JobState.Outcome, _ turn: inout Turn) {
        jobs[id]?.holder = .settler
        jobs[id]?.mayBeIntended = true
        turn.effects.append(.settle(id, outcome))
    }

    /// The daemon did not die of its end.
    mutating func survive(_ id: JobID) {
        guard let entry = jobs[id], entry.isCounted else { return }
        jobs[id]?.recoveries -= 1
        jobs[id]?.isCounted = false
    }

    mutating func notify(_ id: JobID, of failure: Failure, _ turn: inout Turn) {
        guard let entry = jobs[id] else { return }
        guard !isStopping, !isRetired else { return hold(id, &turn) }
        guard mayBegin(entry) else { return holdBack(id, &turn) }
        jobs[id]?.holder = .notifier(isBegun: false)
        turn.effects += [.write(id), .notify(id, failure, index: entry.notified)]
    }

    /// A stage failed: who is at fault decides.
    mutating func fail(
        _ id: JobID, _ stage: (index: Int, failures: Int), _ failure: Failure, _ jitter: Double, _ turn: inout Turn
    ) {
        jobs[id]?.state = .queued(stage: stage.index, failures: stage.failures)
        switch failure.class {
        case .environment:
            hold(id, &turn)
            stopWorking(because: failure, of: id, &turn)
        case .cancelled:
            endProbe(id, &turn)
            hold(id, &turn)
        case .file:
            endProbe(id, &turn)
            go(id, to: .settling(.failed(failure)), &turn)
        case .transient:
            endProbe(id, &turn)
            let failures = stage.failures + 1
            let policy = rules.retry[stage.index]
            guard let delay = policy.delay(afterFailures: failures, jitter: jitter, asked: failure.retryAfter) else {
                return go(id, to: .settling(.failed(failure)), &turn)
            }
            jobs[id]?.state = .deferred(stage: stage.index, failures: failures, failure)
            rest(id, .timer)
            turn.effects.append(.defer(id, failure, delay))
        }
    }

    /// A settlement failed. A drop whose outputs cannot be published because of itself fails; one that cannot even be
    /// moved to `failed` waits for its surroundings, since there is nowhere else to put it.
    mutating func unsettled(
        _ id: JobID, _ outcome: JobState.Outcome, _ failure: Failure, _ turn: inout Turn
    ) {
        survive(id)
        switch (failure.class, outcome) {
        case (.cancelled, _):
            endProbe(id, &turn)
            hold(id, &turn)
        case (.file, .processed):
            endProbe(id, &turn)
            go(id, to: .settling(.failed(failure)), &turn)
        default:
            hold(id, &turn)
            stopWorking(because: failure, of: id, &turn)
        }
    }

    /// Holds it until the pause ends, or the next start.
    mutating func hold(_ id: JobID, _ turn: inout Turn) {
        survive(id)
        rest(id, .nobody)
        held.append(id)
        turn.effects.append(.write(id))
    }

    /// Releases it from its holder. A suspect job must run alone again.
    private mutating func rest(_ id: JobID, _ holder: Holder) {
        guard let entry = jobs[id] else { return }
        jobs[id]?.holder = holder
        jobs[id]?.isAdmitted = false
        jobs[id]?.isQuarantined = entry.recoveries >= rules.quarantineAfter
    }
}

extension JobState {
    /// Runs of its stage that have failed so far.
    fileprivate var failures: Int {
        switch self {
        case .queued(_, let failures), .running(_, let failures), .deferred(_, let failures, _): failures
        case .settling: 0
        }
    }
}
