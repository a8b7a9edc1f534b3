package import Journal
package import PipelineKit

extension Engine {
    /// What would become of jobs that are cancelled now. Blocks.
    package nonisolated func previewCallOff(_ ids: [JobID]) throws(EngineError) -> [CallingOff] {
        let (state, found) = sync { ($0.opened, $0.callOffNow(ids, by: nil)) }
        guard let state else { throw .refused("the daemon is starting or stopping; try again later") }
        return zip(ids, found).map { id, outcome in outcome ?? .absent(absence(of: id, state.journal)) }
    }

    /// Cancels jobs, and returns what becomes of each. They are cancelled also where that could not be put on record:
    /// then the reason is returned. Blocks.
    package nonisolated func callOff(
        _ ids: [JobID], by person: String
    ) throws(EngineError) -> (outcomes: [CallingOff], unwritten: JournalError?) {
        let (state, found) = sync { ($0.opened, $0.callOffNow(ids, by: person)) }
        guard let state else { throw .refused("the daemon is starting or stopping; try again later") }
        var unwritten: JournalError?
        do throws(JournalError) { try state.writer.flush() } catch { unwritten = error }
        let outcomes = zip(ids, found).map { id, outcome in outcome ?? .absent(absence(of: id, state.journal)) }
        return (outcomes, outcomes.contains(where: \.isCalledOff) ? unwritten : nil)
    }

    /// Nil where no pipeline has it at work. Without a person nothing is changed.
    private func callOffNow(_ ids: [JobID], by person: String?) -> [CallingOff?] {
        let answers = ids.map { id in
            all.first { $0.machine.jobs[id] != nil }?.callOff(id, by: person)
        }
        for runner in all { runner.endTurn() }
        finishIfDone()
        return answers
    }
}

extension PipelineRunner {
    /// Nil where it is only left to others.
    fileprivate func callOff(_ id: JobID, by person: String?) -> CallingOff? {
        guard let entry = machine.jobs[id] else { return nil }
        // Once is enough.
        guard entry.calledOff == nil else { return .stops(stage: stage(of: entry)) }
        if case .settling(.failed(let failure)) = entry.state, failure.isCancel {
            return obstacle(to: entry).map { .waits($0) } ?? .settles
        }
        guard machine.mayCallOff(id) else { return machine.isRetired && !entry.holder.isBusy ? nil : .tooLate }
        guard let person else { return .settles }
        jobs[id]?.calledOff(by: person)
        send(.calledOff(id, .calledOff(by: person)))
        if entry.holder == .workers { return .stops(stage: stage(of: entry)) }
        return obstacle(to: entry).map { .waits($0) } ?? .settles
    }

    /// Why what has failed does not settle at once; nil where it does.
    private func obstacle(to entry: JobMachine.Entry) -> String? {
        if machine.pause.isPaused, let reason = machine.pause.reason {
            return "the pipeline is paused: \(reason.summary)"
        }
        // Failures are notified first, and that is a stage.
        guard entry.notified < pipeline.onFailure.count else { return nil }
        if machine.isStopping { return "the daemon is stopping" }
        guard machine.isHeld else { return nil }
        return hold?.kind == .pause ? hold?.text(at: .now()) : outside?.text(at: .now())
    }

    private func stage(of entry: JobMachine.Entry) -> String {
        switch entry.state {
        case .queued(let stage, _), .running(let stage, _), .deferred(let stage, _, _):
            pipeline.stages.indices.contains(stage) ? pipeline.stages[stage].kind : ""
        case .settling: ""
        }
    }
}
