@preconcurrency import Dispatch
import Files
import Journal
import PipelineKit

/// How a reload opens the folders of those that it adds or changes: on queues of their own, since a file system may not
/// answer. What is given up is as if it had never been asked for, however late it ends.
nonisolated extension Engine {
    func prepare(_ plan: Plan, _ state: OpenedState, within patience: Double) throws(EngineError) -> [Arrival] {
        let deadline = DispatchTime.now() + patience
        // Jobs of those that are still leaving go over in memory.
        sync { $0.arriving = plan.arriving }
        // What another one gives back may be on such a file system, too.
        _ = closings.wait(timeout: min(deadline, .now() + Self.patienceWithOld))
        var arrivals: [Arrival] = []
        do throws(EngineError) {
            // All of them before anything of a job is changed: where that fails the reload is refused.
            for new in plan.arriving {
                let opened = try inTime(deadline, patience, new, unwanted: { $0.release() }) {
                    mayLook throws(EngineError) in try self.arrival(of: new, mayLook)
                }
                arrivals.append(opened)
            }
            try recover(&arrivals, state, deadline, patience)
            return arrivals
        } catch {
            abandon(arrivals)
            throw error
        }
    }

    /// Brings the new work folders together with the journal: as at a start, but that what this run itself has left was
    /// left in order.
    private func recover(
        _ arrivals: inout [Arrival], _ state: OpenedState, _ deadline: DispatchTime, _ patience: Double
    ) throws(EngineError) {
        let fresh = arrivals.indices.filter { arrivals[$0].opened != nil }
        guard !fresh.isEmpty else { return }
        // Until they were locked others may have released jobs in them. What is at work is not to be found again.
        let resting = Set(fresh.flatMap { arrivals[$0].resting })
        var records = try orShortage { () throws(JournalError) in
            try state.writer.flush()
            return try state.journal.unfinished().filter { resting.contains($0.pipeline) }
        }
        outstandingLines.note(records)
        let loaded = sync { $0.loaded }
        for index in fresh {
            let arrival = arrivals[index]
            arrivals[index].opened = nil
            let own = records.filter { arrival.resting.contains($0.pipeline) }
            records.removeAll { arrival.resting.contains($0.pipeline) }
            let prepared = try inTime(
                deadline, patience, arrival.pipeline, unwanted: { $0.forEach { $0.release() } }
            ) { mayLook throws(EngineError) in try self.recover(arrival, own, state, loaded, mayLook) }
            arrivals[index].prepared = prepared.first
        }
    }

    private func recover(
        _ arrival: Arrival, _ records: [JobRecord], _ state: OpenedState, _ loaded: Set<String>,
        _ mayLook: Lookout.Permit
    ) throws(EngineError) -> [Prepared] {
        let new = arrival.pipeline
        var opened = arrival.opened.map { [new.name: $0] } ?? [:]
        var prepared: [Prepared] = []
        do throws(EngineError) {
            guard mayLook(new.inbox) else { throw .refused("\(new.source.text): too late") }
            try prepare(
                [new], &opened, into: &prepared, with: state, records, wereLoaded: loaded,
                keeping: [new.name: arrival.places])
            return prepared
        } catch {
            for left in opened.values { left.release() }
            for left in prepared { left.release() }
            throw error
        }
    }

    private func inTime<Value: Sendable>(
        _ deadline: DispatchTime, _ patience: Double, _ new: Pipeline,
        unwanted: @escaping @Sendable (Value) -> Void,
        _ body: @escaping @Sendable (Lookout.Permit) throws(EngineError) -> Value
    ) throws(EngineError) -> Value {
        let outcome = lookout.attempt(until: deadline) { mayLook in
            Result { () throws(EngineError) in try body(mayLook) }
        } unwanted: { result in
            if case .success(let value) = result { unwanted(value) }
        }
        switch outcome {
        case .over(let result): return try result.get()
        case .silent(let place):
            throw .refused(
                "\(new.source.text): its folders were not opened within \(Duration.seconds(patience).text): "
                    + "'\((place ?? new.inbox).text)' does not answer; mount its file system again, or leave that "
                    + "pipeline as it was")
        }
    }

    /// What was prepared is not to run.
    func abandon(_ arrivals: [Arrival]) {
        // What answered before may not any more.
        _ = lookout.attempt(until: .now() + Self.patienceWithOld) { _ in
            for arrival in arrivals { arrival.release() }
        }
        sync { engine in
            engine.arriving = []
            // A stop gives them back in the end.
            if !engine.isStopping { engine.releaseInboxes() }
            engine.finishIfDone()
        }
    }
}
