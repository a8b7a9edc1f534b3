@preconcurrency import Dispatch
import Files
import Journal
package import PipelineKit
import SystemPackage

extension Engine {
    /// Sends drops of jobs back to their inboxes, and returns what becomes of each; without a person, what would, and
    /// nothing is changed. Blocks.
    package nonisolated func release(_ ids: [JobID], by person: String?) throws(EngineError) -> [Releasing] {
        guard let state = sync({ $0.opened }) else {
            throw .refused("the daemon is starting or stopping; try again later")
        }
        let found = releaseLoaded(ids, state, by: person)
        // Their pipelines may be about to give their folders back.
        if found.contains(nil) { _ = closings.wait(timeout: .now() + Self.patienceWithOld) }
        return zip(ids, found).map { id, outcome in outcome ?? releaseAlone(id, state, by: person) }
    }

    /// Those that pipelines have at work, on record; nil for others.
    private nonisolated func releaseLoaded(_ ids: [JobID], _ state: OpenedState, by person: String?) -> [Releasing?] {
        let found = sync { $0.releaseNow(ids, by: person) }
        guard person != nil else { return found }
        do throws(JournalError) {
            try state.writer.flush()
            return found
        } catch {
            let reason = "\(error.message) \(error.remedy)"
            return found.map { $0.map { $0.isReleased ? .waits(reason) : $0 } }
        }
    }

    /// Nil where no pipeline has it at work.
    private func releaseNow(_ ids: [JobID], by person: String?) -> [Releasing?] {
        for runner in all {
            // What workers have begun with since it was last looked.
            runner.checkWorkers()
            runner.endTurn()
        }
        let answers = ids.map { id in
            all.first { $0.machine.jobs[id] != nil }.map { runner in
                refusal(of: runner.pipeline.inbox) ?? runner.release(id, by: person)
            }
        }
        for runner in all { runner.endTurn() }
        finishIfDone()
        return answers
    }

    /// Where a pipeline would claim at once what comes back into that inbox.
    private func refusal(of inbox: FilePath) -> Releasing? {
        guard let name = runners.first(where: { $0.pipeline.inbox == inbox && $0.hold == nil })?.pipeline.name else {
            return nil
        }
        return .refused("'\(name)' would claim its drop again at once; pause it first: dropmill pause \(name)")
    }

    /// One that no pipeline has at work, which none is given to meanwhile: reloads and stops wait for `closings`.
    private nonisolated func releaseAlone(_ id: JobID, _ state: OpenedState, by person: String?) -> Releasing {
        do throws(JournalError) {
            guard let record = try state.journal.job(id), record.rest == nil else {
                return .refused(absence(of: id, state.journal))
            }
            let known = try state.journal.pipelines().first { $0.name == record.pipeline }
            // What waited there would hold up every later change.
            if let known, let place = silence(at: known.works.map(\.path) + [known.inbox, known.failed]) {
                return .refused("'\(place.text)' does not answer; mount its file system again, then release it")
            }
            let isAlone = sync { engine in
                guard !engine.isStopping, !engine.mayHave(record.pipeline) else { return false }
                engine.closings.enter()
                return true
            }
            guard isAlone else {
                // A reload may have loaded it since.
                return releaseLoaded([id], state, by: person)[0] ?? .refused(absence(of: id, state.journal))
            }
            defer { closings.leave() }
            if let known, let refusal = sync({ $0.refusal(of: known.inbox) }) { return refusal }
            guard let person else { return try LoneRelease.preview(record, state.journal) }
            return LoneRelease(state.journal, state.writer).release(id, by: person)
        } catch {
            return .refused(error.message)
        }
    }

    /// Whether jobs of that pipeline are at work, or a reload is about to have them so.
    private func mayHave(_ pipeline: String) -> Bool {
        all.contains { $0.pipeline.name == pipeline } || isArriving(pipeline) || awaited[pipeline] != nil
    }
}

extension PipelineRunner {
    fileprivate func release(_ id: JobID, by person: String?) -> Releasing {
        guard let entry = machine.jobs[id] else { return .refused("it is over") }
        if entry.calledOff != nil { return .refused("it is cancelled") }
        guard machine.mayCallOff(id) else {
            let isLeft = machine.isRetired && !entry.holder.isBusy
            return .refused(
                isLeft
                    ? "its pipeline was removed, and other jobs of it still run; try again once they have ended"
                    : "too late: it is being settled")
        }
        guard entry.holder != .workers || machine.isWithdrawable(id) else {
            return .refused("a stage of it is running; try again once that has ended, or: dropmill cancel \(id)")
        }
        guard let person else { return .goes(pipeline.inbox) }
        jobs[id]?.record.released(by: person, at: .now())
        send(.calledOff(id, .released(by: person)))
        guard machine.pause.isPaused, let reason = machine.pause.reason else { return .goes(pipeline.inbox) }
        return .waits("the pipeline is paused: \(reason.summary)")
    }
}
