import Files
import FolderWatch
import PipelineKit
import Readiness
import SystemPackage

// Handles files that must come with drops, and drops that will never be complete. All of
// it on the intake's queue.
extension Intake {
    /// Takes in jobs whose claims were said to have failed.
    func adoptDoubted() throws(IOError) {
        let resolved = try spool.work.resolveDoubts(of: spool.pipeline)
        for path in resolved.aside { deliver(.keptAside(path)) }
        adopt(resolved.jobs, ofEarlierRun: false)
    }

    /// Something that these drops need may have changed.
    func recheck(_ drops: Set<DropPath>) {
        guard isRunning else { return }
        look(again: drops, at: .now())
        turnSoon()
    }

    package func look(again drops: Set<DropPath>, at now: MonotonicTime) {
        for path in drops where rejected[path] == nil {
            // One that was complete but for being claimed is examined again.
            if ready.remove(path) { gate.touch(path, at: now) } else { gate.recheck(path, at: now) }
        }
    }

    /// Examines queued drops that have room now.
    func callWaiting() {
        for path in longLooks.called {
            if gate.contains(path) { gate.postpone(path, to: .now()) } else { longLooks.forget(path) }
        }
    }

    /// Claims the drop only to move it to `failed`.
    func reject(
        _ path: DropPath, _ fingerprint: Fingerprint, _ failure: Failure, known: MonotonicTime = .now(),
        _ held: [GateHold] = []
    ) {
        rejected[path] = failure
        ready.add(path, fingerprint, known: known, held: held, at: place(of: path, in: nil))
    }

    /// Markers whose drops have not arrived: failed if the rule has a timeout, else reported. If one cannot be examined
    /// it and the following ones are handled next time.
    func rejectMarkers(in inbox: OpenInbox) throws(IOError) {
        overdueMarkers += examiner.overdueMarkers(at: .now())
        while let marker = overdueMarkers.last {
            if examiner.isMarkerAlone(marker) { try rejectMarker(marker, in: inbox) }
            overdueMarkers.removeLast()
        }
    }

    private func rejectMarker(_ marker: DropPath, in inbox: OpenInbox) throws(IOError) {
        func report(_ reason: String) { deliver(.refused(marker, reason: reason)) }
        let rule = spool.pipeline.ready
        guard rule.timeout != nil else {
            return report("it is a marker whose drop has not arrived; drop that too, or set `ready.timeout`")
        }
        switch try examineMarker(marker, in: inbox) {
        // The watcher reports its removal.
        case .gone: break
        case .file(let fingerprint, _): reject(marker, fingerprint, .markerWithoutDrop(marker.name, rule))
        case .refused(let reason): report("it has the name of a marker, its drop has not arrived, and it is \(reason)")
        case .blocked(let error, _):
            report("it has the name of a marker, its drop has not arrived, and it cannot be examined (\(error))")
        }
    }

    private func examineMarker(_ marker: DropPath, in inbox: OpenInbox) throws(IOError) -> Sample {
        do throws(IOError) {
            return try Sample.examine(marker.name, in: try inbox.open(marker.folder).file)
        } catch {
            if error.isUnreachable { return .gone }
            guard error.errno == .permissionDenied else { return try Sample.blocked(error, nil) }
            return .refused("in a folder that cannot be entered (\(error.errno))")
        }
    }

    func look(
        at path: DropPath, in inbox: OpenInbox, deciding: Bool
    ) throws(IOError) -> Examiner.Look {
        let folder: OpenInbox.Opened
        do throws(IOError) {
            folder = try inbox.open(path.folder)
        } catch {
            if error.isUnreachable { return .over(Examiner.Outcome(sample: .gone)) }
            guard error.errno == .permissionDenied else {
                return .over(Examiner.Outcome(sample: try Sample.blocked(error, nil)))
            }
            return .over(Examiner.Outcome(sample: .refused("its folder cannot be entered (\(error.errno))")))
        }
        return try examiner.examine(path, in: folder.file, deciding: deciding)
    }
}
