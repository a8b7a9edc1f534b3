import Files
import FolderWatch
import PipelineKit
import Readiness

// `scan: leader`: one node of those that share the inbox lists it. That spares a large folder the looks of the others,
// and nothing depends on it: whoever lists, a claim is a rename with one winner.
extension Intake {
    /// After how long without room for what is complete the lead is passed on.
    private static let patience = Duration.seconds(10)

    /// Whether another node lists it.
    var isLed: Bool { lead != nil && watcher == nil }

    /// Asks again and again, and watches for as long as the inbox is this node's to list.
    func follow(_ lead: ScanLead) {
        guard isRunning, isClaiming else { return }
        if paused == nil {
            // Nobody else looks at it where another node lists it.
            do throws(Failure) { try checkInbox() } catch { fail(error) }
        }
        lead.ask(isWanted: wantsLead) { @Sendable [weak self] isLeader in
            self?.enqueue { intake in
                guard intake.isRunning, intake.isClaiming else { return }
                if isLeader, intake.isLed { intake.startWatching() }
                if !isLeader, !intake.isLed { intake.stopListing() }
            }
            self?.enqueue(after: ScanLead.interval * Double.random(in: 0.75...1.25)) { $0.follow(lead) }
        }
    }

    /// Only the one that lists claims: where it cannot, another one is to.
    private var wantsLead: Bool {
        let now = MonotonicTime.now()
        let hasRoom = room.has(ready.first()?.fingerprint.size ?? 1)
        fullSince = hasRoom ? nil : fullSince ?? now
        let isFull = fullSince.map { isLed || now - $0 >= Self.patience } ?? false
        return paused == nil && !isHeldBack && !isYielding && !isFull
    }

    /// What waits is another node's to look at.
    private func stopListing() {
        watcher?.assumeIsolated { $0.stop() }
        watcher = nil
        for path in Array(gate.keys) { gate.forget(path) }
        for path in ready.some(.max) { ready.remove(path) }
        examiner = Examiner(of: spool, digests, formats)
        (rejected, longDrops, overdueMarkers) = ([:], [], [])
        (reported, siblings, longLooks, heldOpen) = (Reported(), UntakenNames(), LongLooks(), HeldOpen())
    }

    /// What another node is to take, where it is there.
    func unlisted(_ path: DropPath) -> WaitingDrop? {
        guard isLed else { return nil }
        do throws(IOError) {
            let folder = try OpenInbox(spool.pipeline.inbox).open(path.folder)
            guard FileStatus.of(path.name, in: folder.file) != nil else { return nil }
            return WaitingDrop(path: path.bytes, known: nil, waiting: .unlisted)
        } catch {
            return nil
        }
    }
}

extension Examiner {
    /// One that knows nothing yet.
    init(of spool: Spool, _ digests: DigestCheck.Reading, _ formats: FormatCheck.Reading) {
        self.init(
            rule: spool.pipeline.ready.holding(seenBy: spool.sight), match: spool.pipeline.match, sight: spool.sight,
            digests: digests, formats: formats, isNotified: true)
    }
}
