import Files

/// What takes the quick lane.
extension Intake {
    /// The lane that a drop takes; nil for the usual way.
    func lane(for next: (path: DropPath, fingerprint: Fingerprint)) -> QuickLane? {
        guard let lane, lane.rule.takes(size: next.fingerprint.size), rejected[next.path] == nil,
            quarantine.held.isEmpty
        else { return nil }
        return lane
    }

    /// Hands small drops to the quick lane; those that it leaves go the usual way.
    func run(_ claims: [QuickLane.Claim], claimed: MonotonicTime) {
        guard !claims.isEmpty, let lane else { return }
        let isTaken = lane.run(
            claims, claimed: claimed, deliver: { @Sendable [deliver] ran in deliver(.ran(ran)) },
            leave: { @Sendable [weak self] left in
                self?.enqueue { intake in
                    intake.quickBatches -= 1
                    guard intake.isRunning else { return }
                    for claim in left { intake.arrivals[claim.job.id] = Arrival(waited: claim.waited) }
                    intake.prove(left.map(Unproved.init))
                    intake.note?.end()
                    intake.turnSoon()
                }
            })
        if isTaken {
            quickBatches += 1
        } else {
            for claim in claims { arrivals[claim.job.id] = Arrival(waited: claim.waited) }
            prove(claims.map(Unproved.init))
        }
    }
}

extension Intake.Unproved {
    fileprivate init(_ quick: QuickLane.Claim) {
        self.init(job: quick.job, ready: quick.ready, othersNeedMarker: false, isRejected: false, isLong: false)
    }
}
