import PipelineKit

@testable import PipelineEngine

/// What the machine says is performed, and judged.
extension JobMachineWorld {
    /// Chance decides how many events make a batch.
    mutating func send(_ events: [JobMachine.Event]) {
        waiting += events
        if random.next() % 2 == 0 { flush() }
    }

    mutating func flush(expecting expected: [JobMachine.Effect]? = nil) {
        while !waiting.isEmpty {
            let events = waiting
            waiting = []
            let effects = machine.apply(events, at: now)
            if let expected, expected != effects {
                problems.append("two machines from the same records say different things")
            }
            var withdrawn: [JobID] = []
            for effect in effects where !isLeftOut(effect) { perform(effect, &withdrawn) }
            // Nothing else waits for a worker once the engine stops.
            if events.contains(.stopped) { withdraw(&withdrawn) }
            if !withdrawn.isEmpty { waiting.append(.withdrawn(withdrawn)) }
        }
        check()
    }

    mutating func perform(_ effect: JobMachine.Effect, _ withdrawn: inout [JobID]) {
        switch effect {
        case .run(let id, _, let isCommitted):
            pending.append(.begin(id))
            if isCommitted { writeRunning(id) }
        case .write(let id): write(id)
        case .look(let id): pending.append(.look(id))
        case .notify(let id, _, _): pending.append(.notify(id))
        case .count(let id):
            write(id)
            pending.append(.count(id))
        case .settle(let id, let outcome):
            if ended.contains(id) { problems.append("\(id) is settled twice") }
            pending.append(.settle(id, outcome))
        case .defer(let id, _, _):
            write(id)
            pending.append(.due(id))
        case .wait(let id, _): pending.append(.due(id))
        case .release(let id, _, _), .forget(let id):
            if !ended.insert(id).inserted { problems.append("\(id) ends twice") }
            records[id] = nil
            folders.remove(id)
        case .drop(let id):
            if !taken.contains(id) { problems.append("\(id) is dropped, and nobody has it") }
            if !ended.insert(id).inserted { problems.append("\(id) ends twice") }
            records[id] = nil
            folders.remove(id)
            // What is under way may be over before it is called off.
            pending.removeAll { next in
                switch next {
                case .begin(id), .notify(id): true
                default: false
                }
            }
        case .callOff(let id):
            if pending.contains(.begin(id)) {
                pending.removeAll { $0 == .begin(id) }
                withdrawn.append(id)
            }
        case .quarantine(let id): quarantine.append(id)
        case .withdraw: withdraw(&withdrawn)
        case .probe(let delay): pending.append(.probe(delay))
        case .checkFolders: pending.append(.checkFolders)
        case .askIntake: pending.append(.askIntake)
        case .trial(_, let since): pending.append(.trial(since))
        case .pause: isClaiming = false
        case .resume: isClaiming = true
        case .recovered, .skipNotification: break
        case .unexpected(let event): problems.append("\(event) is not expected")
        }
    }

    mutating func withdraw(_ withdrawn: inout [JobID]) {
        for case .begin(let id) in pending { withdrawn.append(id) }
        for case .notify(let id) in pending where machine.isWithdrawable(id) { withdrawn.append(id) }
        pending.removeAll { next in next.job.map { withdrawn.contains($0) } ?? false }
    }

    mutating func write(_ id: JobID) {
        guard let entry = machine.jobs[id] else { return }
        records[id] = Record(state: entry.onRecord, recoveries: entry.recoveries, isIntended: entry.isIntended)
    }

    /// It is on record as running before it begins.
    mutating func writeRunning(_ id: JobID) {
        guard case .queued(let stage, let failures)? = machine.jobs[id]?.state else { return }
        records[id]?.state = .running(stage: stage, failures: failures)
    }

    mutating func check() {
        let held = machine.jobs.filter { $0.value.holder == .nobody }.keys
        if Set(machine.held) != Set(held) || machine.held.count != held.count {
            problems.append("\(machine.held) are in line, \(Array(held)) are held")
        }
        if !machine.pause.isPaused, !machine.isStopping, !machine.isYielding, !machine.held.isEmpty {
            problems.append("\(machine.held) are held, and nothing lets them go on")
        }
        if isClaiming == machine.pause.isPaused {
            problems.append("it is paused, and claims; or it is not, and does not")
        }
        if machine.pause.isPaused,
            pending.contains(where: { if case .begin(let id) = $0 { id != machine.pause.probing } else { false } })
        {
            problems.append("it is paused, and jobs wait for workers")
        }
        if machine.isYielding,
            pending.contains(where: { next in
                if case .begin(let id) = next { machine.jobs[id]?.isAdmitted == false } else { false }
            })
        {
            problems.append("it yields, and others wait for workers")
        }
        for (id, entry) in machine.jobs {
            if !entry.holder.isBusy, records[id]?.state != entry.state {
                problems.append("\(id) is on record as another: \(entry)")
            }
            let count = pending.count { $0.job == id }
            if count != (entry.holder.isBusy ? 1 : 0) { problems.append("\(count) are at work on \(id): \(entry)") }
        }
    }
}
