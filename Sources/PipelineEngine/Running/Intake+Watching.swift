import Files
import FolderWatch
import PipelineKit

// What the watcher says.
extension Intake {
    func startWatching() {
        let spool = spool
        let rule = spool.pipeline.ready.holding(in: spool.pipeline.inbox)
        let watcher = InboxWatcher(
            inbox: spool.pipeline.inbox,
            selection: InboxSelection(spool.pipeline.match) { @Sendable [rule] name in
                rule.isMarkerBeside(name) || SiblingNames.drop(of: name) != nil
            }, deepest: rule.limits.depth, events: events, executor: executor,
            listener: InboxWatcher.Listener(
                changed: { @Sendable [weak self] changes in self?.assumeIsolated { $0.receive(changes) } },
                scanned: { @Sendable [weak self] isFirst in self?.assumeIsolated { $0.scanned(isInitial: isFirst) } },
                refused: { @Sendable [weak self] path, reason in self?.assumeIsolated { $0.report(path, reason) } },
                watching: { @Sendable [deliver] mode, reason in deliver(.watching(mode, reason: reason)) },
                failed: { @Sendable [weak self] error in self?.assumeIsolated { $0.fail(Failure(error)) } },
                recovered: { @Sendable [deliver] in deliver(.recovered) }),
            check: { @Sendable () throws(WatchError) in
                do throws(Failure) { try spool.checkInbox() } catch { throw WatchError(error) }
            })
        self.watcher = watcher
        watching = .now()
        digests.whenDone = { @Sendable [weak self] path in self?.assumeIsolated { $0.recheck([path]) } }
        formats.whenDone = { @Sendable [weak self] path in self?.assumeIsolated { $0.recheck([path]) } }
        watcher.assumeIsolated { $0.start() }
    }

    /// Whether the name is in the inbox, as far as was seen.
    func knows(_ path: DropPath) -> Bool { watcher?.assumeIsolated { $0.knows(path) } ?? false }

    private func receive(_ changes: [InboxChange]) {
        let now = MonotonicTime.now()
        for change in changes {
            let meaning = examiner.receive(
                change, at: now, isThere: { knows($0) },
                all: { folder in Set((gate.keys + ready.some(.max)).filter { $0.folder == folder }) })
            look(again: meaning.again, at: now)
            guard meaning.isOfDrop else {
                note(sibling: change, at: now)
                continue
            }
            switch change {
            case .appeared(let path), .changed(let path):
                // `once` is for what is there now; and what is to fail fails as it is.
                if isOnce, hasScanned, !gate.contains(path), !ready.contains(path) { continue }
                if rejected[path] != nil || quarantine.isHeld(.drop(path)) { continue }
                ready.remove(path)
                gate.touch(path, at: now)
            case .vanished(let path):
                ready.remove(path)
                rejected[path] = nil
                gate.forget(path)
                longLooks.forget(path)
                longDrops.remove(path)
                heldOpen.ended(.drop(path))
                quarantine.clear(.drop(path))
                reported.forget(path)
            }
        }
        turnSoon()
    }

    /// The watcher tells of it, so that it is not among those that this passes over. Markers are told of by themselves.
    private func note(sibling change: InboxChange, at now: MonotonicTime) {
        let path = change.path
        if case .vanished = change { return siblings.lost(path.name, in: path.folder) }
        guard !spool.pipeline.ready.isMarkerBeside(path.name), path.name.bytes.first != UInt8(ascii: ".") else {
            return
        }
        siblings.saw(path.name, in: path.folder, at: now)
    }

    /// Refused names may have become files, or may be moved now, without an event; many of them are not looked at all
    /// the time.
    private func scanned(isInitial: Bool) {
        spool.noteReserved()
        if isInitial {
            scanned = .now()
            forgetGone()
        }
        let now = MonotonicTime.now()
        if reported.count < Self.fewRefused || now - lastLookAtRefused >= .seconds(60) {
            lastLookAtRefused = now
            gate.touchParked(at: now)
        }
        turnSoon()
    }

    private static let fewRefused = 1000
}
