import Files
import Journal
package import PipelineKit
import SystemPackage

extension Engine {
    /// Sends drops of jobs back to their inboxes, and returns what becomes of each. Blocks.
    package nonisolated func release(_ ids: [JobID], by person: String) throws(EngineError) -> [Releasing] {
        let (state, found) = sync { ($0.opened, $0.releaseNow(ids, by: person)) }
        guard let state else { throw .refused("the daemon is starting or stopping; try again later") }
        var unwritten: JournalError?
        do throws(JournalError) { try state.writer.flush() } catch { unwritten = error }
        return zip(ids, found).map { id, outcome in
            guard let outcome else { return releaseAlone(id, state, by: person) }
            guard outcome.isReleased, let unwritten else { return outcome }
            return .waits("\(unwritten.message) \(unwritten.remedy)")
        }
    }

    /// Nil where no pipeline has it at work.
    private func releaseNow(_ ids: [JobID], by person: String) -> [Releasing?] {
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

    private nonisolated func releaseAlone(_ id: JobID, _ state: OpenedState, by person: String) -> Releasing {
        do throws(JournalError) {
            guard let record = try state.journal.job(id) else { return .refused(absence(of: id, state.journal)) }
            let inbox = try state.journal.pipelines().first { $0.name == record.pipeline }?.inbox
            let (isLoaded, refusal) = sync { engine in
                (
                    engine.all.contains { $0.pipeline.name == record.pipeline },
                    inbox.flatMap { engine.refusal(of: $0) }
                )
            }
            if isLoaded || record.rest != nil { return .refused(absence(of: id, state.journal)) }
            return refusal ?? LoneRelease(state.journal, state.writer).release(id, by: person)
        } catch {
            return .refused(error.message)
        }
    }
}

extension PipelineRunner {
    fileprivate func release(_ id: JobID, by person: String) -> Releasing {
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
        jobs[id]?.record.released(by: person, at: .now())
        send(.calledOff(id, .released(by: person)))
        guard machine.pause.isPaused, let reason = machine.pause.reason else { return .goes(pipeline.inbox) }
        return .waits("the pipeline is paused: \(reason.summary)")
    }
}
