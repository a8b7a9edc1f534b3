import Files
import PipelineKit

extension JobMachine {
    /// What one call has to give, and when it was made.
    struct Turn {
        let now: MonotonicTime
        var effects: [Effect] = []
    }

    mutating func apply(_ event: Event, _ turn: inout Turn) {
        guard isExpected(event) else { return turn.effects.append(.unexpected(event)) }
        switch event {
        case .entered(let id, let state, let recoveries, let isIntended, let isQuarantined, let rest):
            guard jobs[id] == nil else { return }
            jobs[id] = Entry(state: state, recoveries: recoveries, isQuarantined: isQuarantined, isIntended: isIntended)
            guard case .deferred = state else {
                // What has no stage to run is on record, too, before it is settled.
                let runsNone = if case .settling = state { true } else { rules.stages == 0 }
                if runsNone { turn.effects.append(.write(id)) }
                return begin(id, &turn)
            }
            jobs[id]?.holder = .timer
            turn.effects += [.write(id), .wait(id, rest)]
        case .retired: isRetired = true
        case .held(let isHeld): setHeld(isHeld, &turn)
        case .yielding(let isYielding): yield(isYielding, &turn)
        case .takenOver(let id, let entry, let rest): takeOver(id, entry, rest, &turn)
        case .admitted(let id):
            guard jobs[id]?.holder == .quarantine else { return }
            jobs[id]?.isQuarantined = false
            jobs[id]?.isAdmitted = true
            begin(id, &turn)
        case .began(let id): began(id, &turn)
        case .succeeded(let id, let isDone, let hasRun):
            guard let stage = stage(of: id) else { return }
            jobs[id]?.mayBeIntended = false
            if hasRun { jobs[id]?.hasRun = true }
            endProbe(id, &turn)
            if endCalledOff(id, &turn) { return }
            go(id, to: isDone ? .settling(.processed) : .queued(stage: stage.index + 1, failures: 0), &turn)
        case .failed(let id, let failure, let hasRun, let jitter):
            guard let stage = stage(of: id) else { return }
            if hasRun {
                jobs[id]?.mayBeIntended = false
                jobs[id]?.hasRun = true
            }
            if endCalledOff(id, &turn) { return }
            fail(id, stage, failure, jitter, &turn)
        case .due(let id):
            if jobs[id]?.holder == .timer { begin(id, &turn) }
        case .looked(let id, let isThere):
            guard case .settling(let outcome)? = jobs[id]?.state else { return }
            guard isThere, case .failed(let failure) = outcome else { return handOver(id, outcome, &turn) }
            notify(id, of: failure, &turn)
        case .notified(let id):
            jobs[id]?.notified += 1
            begin(id, &turn)
        case .notificationCancelled(let id):
            guard jobs[id] != nil else { return }
            endProbe(id, &turn)
            hold(id, &turn)
        case .counted(let id, let failure):
            guard case .settling(let outcome)? = jobs[id]?.state else { return }
            if let failure { return unsettled(id, outcome, failure, &turn) }
            end(id, outcome, &turn)
        case .settled(let id):
            guard case .settling(let outcome)? = jobs[id]?.state else { return }
            survive(id)
            endProbe(id, &turn)
            guard let entry = jobs.removeValue(forKey: id) else { return }
            turn.effects.append(.release(id, outcome, recoveries: entry.recoveries))
        case .unsettled(let id, let failure, let isIntended):
            guard case .settling(let outcome)? = jobs[id]?.state else { return }
            jobs[id]?.isIntended = isIntended
            unsettled(id, outcome, failure, &turn)
        case .outputsLost(let id, let failure):
            guard case .settling(let outcome)? = jobs[id]?.state else { return }
            survive(id)
            jobs[id]?.isIntended = false
            if outcome == .processed, rules.stages > 0 { jobs[id]?.state = .queued(stage: 0, failures: 0) }
            hold(id, &turn)
            stopWorking(because: failure, of: id, &turn)
        case .lost(let id): lose(id, &turn)
        case .fenced(let id): drop(id, &turn)
        case .calledOff(let id, let failure): callOff(id, because: failure, &turn)
        case .bumped(let id, let isLast): bump(id, last: isLast)
        // Where the pause was over in the same batch they go on.
        case .withdrawn(let ids):
            for id in ids where isWithdrawable(id) && !endCalledOff(id, &turn) { begin(id, &turn) }
        default: applyToPause(event, &turn)
        }
    }

    /// Whether whoever has the job may say this of it. Nobody is asked about a job that is over: its answer is late.
    private func isExpected(_ event: Event) -> Bool {
        switch event {
        case .succeeded(let id, _, _), .failed(let id, _, _, _): jobs[id].map { $0.holder == .workers } ?? true
        case .looked(let id, _): jobs[id].map { $0.holder == .look } ?? true
        case .notified(let id), .notificationCancelled(let id): jobs[id].map { $0.holder.isNotifier } ?? true
        case .counted(let id, _): jobs[id].map { $0.holder == .journal } ?? true
        case .settled(let id), .unsettled(let id, _, _), .outputsLost(let id, _):
            jobs[id].map { $0.holder == .settler } ?? true
        default: true
        }
    }

    /// The stage that a worker has, or is to have; nil for a job that is elsewhere.
    private func stage(of id: JobID) -> (index: Int, failures: Int)? {
        guard let entry = jobs[id], entry.holder == .workers else { return nil }
        switch entry.state {
        case .queued(let stage, let failures), .running(let stage, let failures): return (stage, failures)
        case .deferred, .settling: return nil
        }
    }

    private mutating func began(_ id: JobID, _ turn: inout Turn) {
        guard isWithdrawable(id) else { return }
        if let stage = stage(of: id) {
            jobs[id]?.state = .running(stage: stage.index, failures: stage.failures)
            turn.effects.append(.write(id))
        } else {
            jobs[id]?.holder = .notifier(isBegun: true)
        }
    }

    private mutating func lose(_ id: JobID, _ turn: inout Turn) {
        guard jobs.removeValue(forKey: id) != nil else { return }
        held.removeAll { $0 == id }
        turn.effects.append(.forget(id))
        endProbe(id, &turn)
    }

    private mutating func drop(_ id: JobID, _ turn: inout Turn) {
        guard jobs[id] != nil else { return }
        giveUpProbe(id, &turn)
        jobs[id] = nil
        held.removeAll { $0 == id }
        turn.effects.append(.drop(id))
    }
}
