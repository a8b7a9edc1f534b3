import PipelineKit

/// A job that a person calls off.
extension JobMachine {
    /// Whether it can be called off: it is too late once it is being settled.
    func mayCallOff(_ id: JobID) -> Bool {
        guard let entry = jobs[id], entry.calledOff == nil else { return false }
        if case .settling = entry.state { return false }
        // Where nothing begins any more it would stay as it is.
        return !isRetired || entry.holder.isBusy
    }

    mutating func callOff(_ id: JobID, because failure: Failure, _ turn: inout Turn) {
        guard mayCallOff(id), let entry = jobs[id] else { return }
        guard entry.holder != .workers else {
            jobs[id]?.calledOff = failure
            // In this order: what its worker is about to write down is out of date then.
            turn.effects += [.callOff(id), .write(id)]
            return
        }
        held.removeAll { $0 == id }
        giveUpProbe(id, &turn)
        // No stage sees it any more.
        jobs[id]?.isQuarantined = false
        jobs[id]?.state = .settling(.failed(failure))
        turn.effects.append(.write(id))
        begin(id, &turn)
    }

    /// Has a job fail that was called off, whatever its stage made of it; false where it was not.
    mutating func endCalledOff(_ id: JobID, _ turn: inout Turn) -> Bool {
        guard let failure = jobs[id]?.calledOff else { return false }
        jobs[id]?.calledOff = nil
        giveUpProbe(id, &turn)
        go(id, to: .settling(.failed(failure)), &turn)
        return true
    }
}
