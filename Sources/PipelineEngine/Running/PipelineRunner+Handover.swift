import Files
import Journal
import PipelineKit

/// How one generation of a pipeline gives way to the next.
extension PipelineRunner {
    /// Begins nothing more. What runs ends here; all else goes to the successor, now and as soon as it may. Without one
    /// it stays where it is.
    func retire(to successor: PipelineRunner?) {
        self.successor = successor
        guard !machine.isRetired else { return handOver() }
        send(.retired)
        send(.withdrawn(workers.flatMap { $0.stop() }.map(\.job.id)))
        if let successor {
            passRuns(to: successor)
            if successor.pipeline.name == pipeline.name {
                successor.pausedAt = pausedAt
                successor.send(.followed(machine.pause))
            }
        }
        endTurn()
    }

    /// What runs here is among what the successor may run at once: the n-th stage of a kind stands for the n-th of that
    /// kind.
    private func passRuns(to successor: PipelineRunner) {
        var others: [String: [StageWorkers]] = [:]
        for (stage, own) in zip(successor.pipeline.allStages, successor.workers).reversed() {
            others[stage.kind, default: []].append(own)
        }
        for (stage, own) in zip(pipeline.allStages, workers) { others[stage.kind]?.popLast()?.follow(own) }
    }

    /// Its jobs are another pipeline's: whoever has its name later is not to look for them.
    func leaveWorks() {
        guard var record = lastNote else { return }
        (record.works, record.updatedAt) = ([], .now())
        journal.note(record)
    }

    /// Whether all that was its own to end has ended, and the rest is where it belongs.
    var isRelieved: Bool {
        guard machine.isRetired, let left, left.isEmpty || last.machine.isRetired else { return false }
        return machine.isRelieved && intake.lane?.isIdle ?? true
    }

    /// Whether nothing is left to be done in a work folder that the pipeline had before.
    var isOver: Bool {
        found == nil && hasIntakeBegun && machine.jobs.isEmpty && remaining.map(\.isEmpty) ?? false
    }

    /// Whether it was removed with the pipeline of that name, or comes to one that was.
    func isLeaving(_ name: String) -> Bool { last.machine.isRetired && last.pipeline.name == name }

    /// The one that all comes to in the end.
    var last: PipelineRunner { successor?.last ?? self }

    /// Writes down what is left of a removed pipeline.
    func leave() {
        for id in jobs.keys { write(id) }
    }

    /// Gives the successor whatever nothing is under way for.
    func handOver() {
        guard machine.isRetired, let successor else { return }
        let idle = handOverIdle()
        guard !idle.isEmpty else { return }
        for (active, entry) in idle { successor.takeOver(active, entry) }
        successor.endTurn()
    }

    private func takeOver(_ found: ActiveJob, _ entry: JobMachine.Entry) {
        let id = found.record.id
        var (active, entry) = (found, entry)
        active.goOn(under: pipeline.definition, of: pipeline.name)
        entry.state = entry.state.going(on: active.record.stage, of: pipeline.stages.count)
        let rest = restOfDelay(of: active.record)
        jobs[id] = active
        remaining = nil
        send(.takenOver(id, entry, rest: rest))
    }
}

extension JobState {
    /// The same at the stage that the job goes on with.
    fileprivate func going(on stage: Int, of stages: Int) -> JobState {
        switch self {
        case .settling(.failed): self
        case .settling(.processed): stage < stages ? .queued(stage: stage, failures: 0) : self
        case .queued(stage, _), .running(stage, _), .deferred(stage, _, _): self
        case .queued, .running, .deferred: .queued(stage: stage, failures: 0)
        }
    }
}
