import Files
import FolderWatch
import PipelineKit
import Readiness
import SystemPackage

/// Examines drops, and claims them.
extension Intake {
    /// How many samples or claims are made before events are handled.
    private static let batch = 256

    /// How long folders are examined before events are handled.
    private static let turn = Duration.milliseconds(50)

    func sample(_ inbox: OpenInbox) throws(IOError) {
        let requests = due(at: .now(), limit: Self.batch)
        let areFolders = spool.pipeline.ready.unit == .folder
        let isCostly = areFolders || spool.sight.scansProcesses
        let end = MonotonicTime.now() + Self.turn
        for (index, request) in requests.enumerated() {
            if areFolders {
                // It changed meanwhile, so this look cannot decide.
                if longLooks.contains(request.key) || longLooks.isInLine(request.key) { continue }
                if .now() >= end {
                    for rest in requests[index...] { gate.postpone(rest.key, to: .now()) }
                    break
                }
            }
            noteLook(at: request.key)
            // Most looks are a few calls, and measuring their cost would cost as much.
            let begun = isCostly ? MonotonicTime.spentByThread() : nil
            do throws(IOError) {
                switch try look(at: request.key, in: inbox, deciding: request.deciding) {
                case .over(let found):
                    record(
                        found, of: request.key, in: inbox,
                        cost: begun.map { MonotonicTime.spentByThread() - $0 } ?? .zero)
                case .underWay(let look):
                    try goOn(LongLooks.Underway(path: request.key, deciding: request.deciding, look: look), in: inbox)
                }
            } catch {
                // One that cannot be examined must not make the others be forgotten.
                let later = MonotonicTime.now() + Self.troubledPause
                for unanswered in requests[index...] { gate.postpone(unanswered.key, to: later) }
                throw error
            }
        }
        defer { callWaiting() }
        guard let next = longLooks.next() else { return }
        noteLook(at: next.path)
        do throws(IOError) {
            try goOn(next, in: inbox)
        } catch {
            gate.postpone(next.path, to: .now() + Self.troubledPause)
            throw error
        }
    }

    /// A slice of a look at a folder.
    private func goOn(_ underway: LongLooks.Underway, in inbox: OpenInbox) throws(IOError) {
        let begun = MonotonicTime.spentByThread()
        let isOver = try underway.look.goOn(until: .now() + TreeLook.slice)
        var underway = underway
        underway.cost += MonotonicTime.spentByThread() - begun
        guard isOver else {
            longDrops.insert(underway.path)
            // If many take long, it starts over when its turn comes.
            if !longLooks.add(underway) { gate.postpone(underway.path, to: .distantFuture) }
            return
        }
        let found: Examiner.Outcome
        do throws(IOError) {
            let folder = try inbox.open(underway.path.folder)
            found = try examiner.finding(
                of: underway.look, at: underway.path, in: folder.file, deciding: underway.deciding)
        } catch {
            found = Examiner.Outcome(sample: error.isUnreachable ? .gone : try Sample.blocked(error, nil))
        }
        record(found, of: underway.path, in: inbox, cost: underway.cost)
    }

    /// Handles the result of a look.
    private func record(_ found: Examiner.Outcome, of path: DropPath, in inbox: OpenInbox, cost: Duration) {
        longLooks.forget(path)
        let admitted = gate.admitted(path) ?? .now()
        let held = gate.held(path, at: .now())
        switch found.sample {
        case .file(_, .some(let writer)): reportHeldOpen(path, .drop(path), by: writer)
        case .file(_, .notAsked): break
        default: heldOpen.ended(.drop(path))
        }
        switch gate.record(found.sample, of: path, at: .now(), lacking: found.lacking, cost: cost) {
        case .ready(let fingerprint):
            if let excess = found.excess {
                reject(
                    path, fingerprint, .excess(path.name, excess, spool.pipeline.ready.limits), known: admitted, held)
            } else {
                let wait = Wait(seen: admitted, began: scanned, changed: fingerprint.changed)
                ready.add(
                    path, fingerprint, known: wait.since(at: .now(), .now()), held: held, at: place(of: path, in: inbox)
                )
            }
        case .refused(let reason): report(path, reason)
        case .overdue(let fingerprint, let waiting):
            reject(path, fingerprint, .overdue(path.name, waiting, spool.pipeline.ready), known: admitted, held)
        case .vanished: forgetReport(path)
        case .waiting, .ignored: break
        }
    }

    func claim(_ inbox: OpenInbox) throws(IOError) {
        ready.age(at: .now())
        guard claimOrder.holds(nextDue: gate.nextDue, at: .now()), mayClaim else { return }
        do throws(Failure) {
            try space.check()
        } catch {
            return fail(error)
        }
        var claims: [Unproved] = []
        var quick: [QuickLane.Claim] = []
        defer {
            run(quick, claimed: .now())
            prove(claims)
        }
        try spool.renaming.take { () throws(IOError) in try claimReady(inbox, &claims, &quick) }
    }

    private func claimReady(
        _ inbox: OpenInbox, _ claims: inout [Unproved], _ quick: inout [QuickLane.Claim]
    ) throws(IOError) {
        var bytes: Int64 = 0
        while mayClaim, claims.count + quick.count < Self.batch, bytes < QuickLane.mostBytes, let next = ready.first() {
            let isQuick = lane(for: next) != nil
            let (arrival, producer) = (ready.firstArrival, producer(of: next.path))
            ready.removeFirst()
            noteLook(at: next.path)
            let othersNeedMarker = examiner.sharesMarker(next.path)
            let isRejected = rejected[next.path] != nil
            let claim: Spool.Claim?
            do throws(IOError) {
                claim = try self.claim(next.path, next.fingerprint, in: inbox)
            } catch {
                rejected[next.path] = nil
                gate.touch(next.path, at: .now())
                throw error
            }
            rejected[next.path] = nil
            let isLong = longDrops.remove(next.path) != nil && !isRejected
            switch claim {
            case .claimed(let job):
                let job = attributed(job, to: producer)
                took(next.path)
                reserve(job)
                let now = MonotonicTime.now()
                limit?.take(job.drop.size, at: now)
                guard !isQuick else {
                    bytes = bytes.addingSaturated(next.fingerprint.size)
                    let waited = now - seen(arrival?.known ?? now)
                    quick.append(QuickLane.Claim(job: job, ready: next.fingerprint, waited: waited))
                    continue
                }
                arrivals[job.id] = arrival.map { self.arrival(seen($0.known), $0.held, of: job, at: now) }
                claims.append(
                    Unproved(
                        job: job, ready: next.fingerprint, othersNeedMarker: othersNeedMarker, isRejected: isRejected,
                        isLong: isLong)
                )
            case .vanished: took(next.path)
            case .refused(let reason):
                gate.refuse(next.path, because: reason, at: .now())
                report(next.path, reason)
            case nil: gate.touch(next.path, at: .now())
            }
        }
    }

    /// When a drop was first seen that is known since then. What was there before was seen when watching began.
    private func seen(_ known: MonotonicTime) -> MonotonicTime { watching.map { max($0, known) } ?? known }

    private func arrival(
        _ seen: MonotonicTime, _ held: [GateHold], of job: Job, at now: MonotonicTime
    ) -> Arrival {
        Arrival(
            seen: seen, held: held, quiet: spool.pipeline.ready.quiet, obstacles: obstacles, claimed: now,
            at: job.claimedAt)
    }

    /// Jobs are the engine's from here on.
    func report(_ claimed: [Spool.Claimed], adopted isAdopted: Bool) {
        let claimed = claimed.map { claimed in
            var claimed = claimed
            claimed.arrival = arrivals.removeValue(forKey: claimed.job.id)
            return claimed
        }
        deliver(.claimed(claimed, adopted: isAdopted))
    }

    struct Unproved: Sendable {
        let job: Job
        let ready: Fingerprint
        let othersNeedMarker: Bool
        let isRejected: Bool
        /// Whether a look at it takes longer than others should wait for.
        let isLong: Bool
    }

    /// Proves claims together; long proofs run on another queue, so that nothing here waits.
    func prove(_ claims: [Unproved]) {
        let now = MonotonicTime.now()
        // A folder may have grown since it was examined.
        let quick = spool.breakingOff { @Sendable begun in .now() - begun >= TreeLook.slice }
        var complete: [Spool.Claimed] = []
        for claim in claims {
            noteLook(at: claim.job)
            let isFolder = claim.job.drop.isFolder
            let proof =
                claim.isLong || isFolder && .now() - now >= Self.turn
                ? nil : Self.proof(of: claim, by: isFolder ? quick : spool, claimed: now)
            guard let proof else {
                elsewhere(claim.job) { @Sendable spool in
                    Self.proof(of: claim, by: spool, claimed: now)
                } then: { @Sendable intake, proof in
                    guard let proof, let claimed = intake.conclude(claim, proof) else { return }
                    intake.report([claimed], adopted: false)
                }
                continue
            }
            if let claimed = conclude(claim, proof) { complete.append(claimed) }
        }
        if !complete.isEmpty { report(complete, adopted: false) }
    }

    /// It is claimed: whatever is wrong, it must not be forgotten. Nil if the look was interrupted.
    private static func proof(of claim: Unproved, by spool: Spool, claimed now: MonotonicTime) -> Spool.Proof? {
        do throws(IOError) {
            return try spool.prove(
                claim.job, ready: claim.ready, claimed: now, othersNeedMarker: claim.othersNeedMarker,
                isRejected: claim.isRejected)
        } catch {
            return error.errno == .canceled ? nil : .stillWritten("\(error)")
        }
    }

    /// The drop, if it is complete; else it has to stand still once more.
    private func conclude(_ claim: Unproved, _ proof: Spool.Proof) -> Spool.Claimed? {
        switch proof {
        case .complete(let claimed): return claimed
        case .stillWritten(let reason): waitForWriters(of: claim.job, because: reason)
        case .copying: copy(claim.job)
        }
        return nil
    }

    /// Makes a claimed drop wait for stillness again.
    func waitForWriters(of job: Job, because reason: String) {
        hold(job)
        deliver(.stillWritten(job, reason: reason))
    }

    /// Holds back a job that was about to run. It takes up no room meanwhile: its sender may delay it forever.
    func hold(_ job: Job) {
        giveBack(job)
        arrivals[job.id]?.isLate(at: .now())
        lateWriters.add(job)
    }

    /// Claims one drop; nil if it changed since it was found complete.
    private func claim(_ path: DropPath, _ ready: Fingerprint, in inbox: OpenInbox) throws(IOError) -> Spool.Claim? {
        let folder: OpenInbox.Opened
        do throws(IOError) {
            folder = try inbox.open(path.folder)
        } catch {
            if error.isUnreachable { return .vanished }
            guard error.errno.trouble(with: .drop) != .pauses else { throw error }
            return .refused("its folder cannot be opened: \(error.errno)")
        }
        if rejected[path] == nil, !isStill(path.name, ready, in: folder.file) { return nil }
        return try spool.claim(
            path.name, ready: ready, in: folder.file, at: path.folder, as: ids.next(), rejected: rejected[path])
    }

    /// Whether a drop is unchanged since it was found complete. It may have waited for room for hours, and nothing
    /// reports what happens on other machines or under other names. After the rename its ctime says nothing any more;
    /// the proof of a folder sees those of all its files.
    private func isStill(_ name: FileName, _ ready: Fingerprint, in folder: borrowing OpenFile) -> Bool {
        guard ready.listing == 0 else { return true }
        do throws(IOError) {
            let attributes = Attributes.deciding(spool.sight)
            if case .file(let state, _) = try Sample.examine(name, in: folder, by: attributes) {
                return state == ready
            }
            return true
        } catch {
            // The claim will report the problem.
            return true
        }
    }

    private func took(_ path: DropPath) {
        quarantine.clear(.drop(path))
        heldOpen.ended(.drop(path))
        // It may have been left alone before.
        forgetReport(path)
        watcher?.assumeIsolated { $0.took(path) }
        // Its siblings need not wait for it any more.
        look(again: Set(examiner.siblings(of: path)), at: .now())
        if let marker = examiner.took(path, at: .now()) { watcher?.assumeIsolated { $0.took(marker) } }
    }

    /// Checks claimed drops that must stand still; folders on the queue of the proofs.
    func checkLateWriters() throws(IOError) {
        var turn = lateWriters.turn(spool, room, noting: noteLook)
        for job in turn.folders {
            elsewhere(job) { @Sendable spool in
                LateWriters.look(at: job, spool)
            } then: { @Sendable intake, look in
                var turn = LateWriters.Turn()
                if let state = intake.lateWriters.looked(at: job, look, &turn) {
                    if intake.room.has(job.drop.size, of: job.producer) {
                        intake.prove(job, state)
                    } else {
                        intake.lateWriters.wait(job)
                    }
                }
                intake.finish(turn)
            }
        }
        let error = turn.error
        turn.error = nil
        finish(turn)
        if let error { throw error }
    }

    /// One that stood still is proved.
    private func prove(_ job: Job, _ state: Fingerprint) {
        reserve(job)
        elsewhere(job) { @Sendable spool in
            LateWriters.proof(of: job, state, spool, claimed: .now())
        } then: { @Sendable intake, proof in
            intake.giveBack(job)
            var turn = LateWriters.Turn()
            intake.lateWriters.proved(job, proof, &turn)
            intake.finish(turn)
        }
    }

    /// Handles the results for drops that must stand still.
    private func finish(_ turn: LateWriters.Turn) {
        for (job, writer) in turn.held { reportHeldOpen(job.drop.path, .job(job.slot), by: writer) }
        for job in turn.ended {
            heldOpen.ended(.job(job.slot))
            // A copy may be what crashes the daemon.
            if !turn.copying.contains(where: { $0.id == job.id }) { quarantine.clear(.job(job.slot)) }
        }
        for job in turn.lost {
            arrivals[job.id] = nil
            deliver(.lost(job))
        }
        for claimed in turn.complete { reserve(claimed.job) }
        for job in turn.copying {
            reserve(job)
            copy(job)
        }
        if !turn.complete.isEmpty { report(turn.complete, adopted: false) }
        if let error = turn.error { fail(Failure(error)) }
    }
}
