package import Journal
package import PipelineKit

extension Engine {
    /// Cancels jobs and returns what becomes of each, once the journal has it. Blocks.
    package nonisolated func callOff(_ ids: [JobID], by person: String) throws(JournalError) -> [CallingOff] {
        let (answers, writer) = sync { ($0.callOffNow(ids, by: person), $0.opened?.writer) }
        try writer?.flush()
        return answers
    }

    private func callOffNow(_ ids: [JobID], by person: String) -> [CallingOff] {
        let answers = ids.map { id in
            all.first { $0.machine.jobs[id] != nil }?.callOff(id, by: person) ?? CallingOff.unknown
        }
        for runner in all { runner.endTurn() }
        finishIfDone()
        return answers
    }
}

extension PipelineRunner {
    fileprivate func callOff(_ id: JobID, by person: String) -> CallingOff {
        guard let entry = machine.jobs[id] else { return .unknown }
        // Once is enough.
        guard entry.calledOff == nil else { return .stops(stage: stage(of: entry)) }
        guard machine.mayCallOff(id) else { return machine.isRetired && !entry.holder.isBusy ? .unknown : .tooLate }
        jobs[id]?.calledOff(by: person)
        send(.calledOff(id, .calledOff(by: person)))
        return entry.holder == .workers ? .stops(stage: stage(of: entry)) : .settles
    }

    private func stage(of entry: JobMachine.Entry) -> String {
        switch entry.state {
        case .queued(let stage, _), .running(let stage, _), .deferred(let stage, _, _):
            pipeline.stages.indices.contains(stage) ? pipeline.stages[stage].kind : ""
        case .settling: ""
        }
    }
}

extension Failure {
    /// A person called the job off.
    package static func calledOff(by person: String) -> Failure {
        .file(
            "operator.cancelled", "The job was called off by \(person).",
            remedy: "If it is wanted after all, send it in again with 'dropmill retry'.")
    }
}
