import Files
import FolderWatch

// Reports for `status` and `explain`, and that nothing is left to be claimed.
extension Intake {
    /// Reports what waits, on the intake's queue: at most `limit` waiting drops and `limit` that are left alone.
    nonisolated func reportSnapshot(limit: Int, _ report: @escaping @Sendable (InboxSnapshot) -> Void) {
        enqueue { intake in report(intake.snapshot(limit: limit)) }
    }

    /// Reports what one file waits for, by its path from the inbox on; nil for one that is not known.
    nonisolated func reportWaiting(of path: [UInt8], _ report: @escaping @Sendable (WaitingDrop?) -> Void) {
        guard let path = DropPath(bytes: path) else { return report(nil) }
        enqueue { intake in report(intake.standing(of: path, at: .now()) ?? intake.unlisted(path)) }
    }

    /// Reports how many drops wait, if that changed, and calls back on the queue.
    nonisolated func reportWaitingCount(_ done: @escaping @Sendable () -> Void) {
        enqueue { intake in
            let count = intake.waitingCount
            // The one that lists it says so for all.
            if count != intake.reportedWaiting, !intake.isLed {
                intake.deliver(.waiting(count))
                intake.reportedWaiting = count
            }
            done()
        }
    }

    /// Drops that are not claimed, those whose examination may have crashed the daemon among them, and late writers.
    var waitingCount: Int { gate.waitingCount + ready.count + lateWriters.paths.count + heldDrops.count }

    func snapshot(limit: Int) -> InboxSnapshot {
        let now = MonotonicTime.now()
        let longest = gate.longest(max(limit, 1))
        let inGate = longest.prefix(limit)
        let complete = ready.some(max(0, limit - inGate.count))
        let alone = examiner.markersAlone.filter { reported[$0] == nil }
        let left = (reported.all.prefix(limit).map(\.path) + alone).prefix(limit).sorted()
        let late = lateWriters.standing(at: now, limit: max(limit, 1))
        let claimed = late.prefix(limit)
        let held = heldDrops
        let ages = [
            held.isEmpty ? nil : quarantine.age, longest.first.flatMap { gate.admitted($0) }.map { now - $0 },
            late.first?.known,
            ready.oldest.map { now - $0 },
        ]
        return InboxSnapshot(
            watching: watcher?.assumeIsolated { $0.mode }, waiting: waitingCount,
            complete: ready.count, completeBytes: ready.bytes,
            longest: Array(
                (claimed + (held + inGate + complete).compactMap { standing(of: $0, at: now) }).prefix(limit)),
            oldest: ages.compactMap(\.self).max(), leftCount: reported.count + alone.count,
            untaken: untakenCount,
            left: left.compactMap { standing(of: $0, at: now) },
            paused: paused)
    }

    func standing(of path: DropPath, at now: MonotonicTime) -> WaitingDrop? {
        if var waiting = gate.waiting(for: path, at: now) {
            // One that could not be claimed is examined again once that may be possible.
            if waiting == .unseen || waiting == .ceded, let paused { waiting = .paused(paused.summary) }
            if waiting == .ceded, let held { waiting = .held(held.text(at: .now())) }
            let known = gate.admitted(path).map { now - $0 }
            return WaitingDrop(path: path.bytes, known: known, waiting: waiting)
        }
        if let since = ready.known(path) {
            let known = now - since
            if let held { return WaitingDrop(path: path.bytes, known: known, waiting: .held(held.text(at: .now()))) }
            if let outside {
                let text = outside.text(at: .now())
                return WaitingDrop(path: path.bytes, known: known, waiting: .outside(text))
            }
            if isYielding { return WaitingDrop(path: path.bytes, known: known, waiting: .yielding) }
            let reason = paused?.summary ?? (isClaiming ? nil : "Dropmill is stopping")
            let share = ready.isHeldBack(path) ? producer(of: path).map { Waiting.share($0) } : nil
            let rate =
                share == nil ? limit?.reason(for: ready.size(of: path) ?? 0, at: now).map { Waiting.rate($0) } : nil
            let waiting = reason.map { Waiting.paused($0) } ?? share ?? rate ?? .room
            return WaitingDrop(path: path.bytes, known: known, waiting: waiting)
        }
        if quarantine.isHeld(.drop(path)) {
            return WaitingDrop(path: path.bytes, known: quarantine.age, waiting: .suspect)
        }
        if let reason = reported[path] { return WaitingDrop(path: path.bytes, known: nil, waiting: .refused(reason)) }
        if examiner.isMarkerForAll(path), knows(path) {
            return WaitingDrop(path: path.bytes, known: nil, waiting: .markerOfAll)
        }
        if let drop = examiner.drop(ofMarker: path) {
            return WaitingDrop(path: path.bytes, known: nil, waiting: .markerOf(drop.name))
        }
        if examiner.isMarkerAlone(path) {
            return WaitingDrop(path: path.bytes, known: nil, waiting: .markerWithoutDrop)
        }
        return lateWriters.standing(of: path, at: now)
    }

    /// Whether drops may be claimed has changed.
    func noteObstacle() {
        let waiting: Waiting? =
            if let held { .held(held.news) } else if let paused { .paused(paused.summary) } else if let outside {
                .outside(outside.text(at: .now()))
            } else {
                isYielding ? .yielding : nil
            }
        obstacles.set(waiting, at: .now())
    }

    /// With `once`, or where nothing comes in.
    func reportIfIdle() {
        let hasDrops = !ready.isEmpty || !quarantine.held.isEmpty
        guard isOnce || spool.isTail, isRunning, hasScanned, !hasDrops || isHeldBack && heldJobs.isEmpty,
            proofs.count == 0, copying.isEmpty, quickBatches == 0
        else { return }
        let waiting = gate.waiting
        guard waiting.allSatisfy(\.isDisturbed), lateWriters.allDisturbed else { return }
        let now = MonotonicTime.now()
        let inInbox = waiting.map { (path, _) in
            let lack = gate.waiting(for: path, at: now).flatMap { $0.isLack ? $0 : nil }
            return Left(
                path: path, reason: "stays in the inbox: \(lack?.text ?? "still being written")",
                isContradicted: lack?.isContradicted ?? false)
        }
        let alone = examiner.markersAlone.map {
            Left(path: $0, reason: "stays in the inbox: \(Waiting.markerWithoutDrop.text)")
        }
        let claimed = lateWriters.paths.map {
            Left(path: $0, reason: "stays in the work folder: still being written by a process that has it open")
        }
        let refused = reported.all.map { Left(path: $0.path, reason: "stays in the inbox: \($0.reason)") }
        deliver(.idle(remaining: inInbox + alone + claimed + refused.sorted { $0.path < $1.path }))
    }
}
