@preconcurrency import Dispatch
import Files
import PipelineKit
import SystemPackage

/// How an engine ends. What is on a file system that does not answer is left behind: the process ends with it, and the
/// next start finds it as after a crash.
extension Engine {
    func finishIfDone() {
        guard hasStarted, !isStarting, !isFinishing else { return }
        runQuarantined()
        closeRelieved()
        let isOver = configuration.once && runners.allSatisfy(\.isDone)
        if isStopping ? all.allSatisfy(\.isQuiet) : isOver { finish() }
    }

    /// Closes everything and reports.
    func finish() {
        guard finished != nil, !isFinishing else { return }
        isFinishing = true
        ticker?.cancel()
        ticker = nil
        fleet?.stop()
        closing = all
        (runners, tails, retired, known) = ([], [], [], [:])
        let group = DispatchGroup()
        for runner in closing {
            group.enter()
            runner.intake.stop { @Sendable in group.leave() }
        }
        if let takeover {
            group.enter()
            takeover.stop { @Sendable in group.leave() }
        }
        for body in whenClosing {
            group.enter()
            body { @Sendable in group.leave() }
        }
        whenClosing = []
        // Removed pipelines may be about to give their folders back.
        group.enter()
        closings.notify(queue: executor.queue) { @Sendable in group.leave() }
        group.notify(queue: executor.queue) { @Sendable [self] in
            assumeIsolated { engine in engine.close(hasEnded: true) }
        }
        executor.queue.after(patienceAtEnd) { @Sendable [weak self] in
            self?.assumeIsolated { engine in engine.close(hasEnded: false) }
        }
    }

    /// `hasEnded`: whether all that was at work has.
    private func close(hasEnded: Bool) {
        guard let finished else { return }
        self.finished = nil
        events?.stop()
        events = nil
        let summary = summary(of: closing)
        // Where a stage was left behind, or what stages made is not on the disk, the run has not ended in order.
        let isInOrder = hasEnded && !hasLosses && closing.allSatisfy(\.isQuiet)
        let results = closing.compactMap { runner in runner.results.map { (runner.pipeline.name, $0) } }
        let works = closing.filter { $0.successor == nil }.map(\.intake.spool.work)
        let (state, locks, patience) = (opened, Array(inboxLocks.values), patienceAtEnd)
        let isOver = configuration.once && !isStopping
        (closing, inboxLocks, opened) = ([], [:], nil)
        DispatchQueue(label: "dropmill.closing").async { @Sendable [self] in
            // Nobody else does where such runs are all that there are.
            if isOver { state?.tidyOnce() }
            if isInOrder, results.allSatisfy({ isOnDisk($1, of: $0, within: patience) }) { state?.end(observer) }
            state?.close()
            let deadline = DispatchTime.now() + Self.patienceWithOld
            for work in works { _ = lookout.attempt(until: deadline) { _ in work.release() } }
            for lock in locks { _ = lookout.attempt(until: deadline) { _ in lock.release() } }
            finished(summary)
        }
    }

    /// Brings what stages made to the disk; whether it is there.
    private nonisolated func isOnDisk(_ whole: FileSystemSync, of pipeline: String, within patience: Duration) -> Bool {
        let brought = lookout.attempt(until: .now() + patience.seconds) { @Sendable [observer] _ in
            do throws(IOError) {
                try whole.sync()
            } catch {
                let message = "\(error): unfinished jobs may start again from their first stage"
                observer(.warning(pipeline: pipeline, message: message))
            }
            return !whole.hasLostWrites
        }
        if case .over(true) = brought { return true }
        return false
    }

    private func summary(of runners: [PipelineRunner]) -> RunSummary {
        var summary = past
        for runner in runners {
            summary.add(runner.summary)
            summary.unfinished += runner.unfinished
            if runner.machine.pause.isPaused, let reason = runner.machine.pause.reason {
                summary.paused[runner.pipeline.name] = reason.summary
            }
            let now = configuration.now()
            if let text = runner.hold?.text(at: .now()) ?? runner.outside?.text(at: now) {
                summary.held[runner.pipeline.name] = text
            }
            for left in runner.remaining ?? [] {
                summary.remaining.append(
                    RunSummary.Remaining(
                        pipeline: runner.pipeline.name, path: left.path, reason: left.reason,
                        isContradicted: left.isContradicted))
            }
        }
        return summary
    }
}
