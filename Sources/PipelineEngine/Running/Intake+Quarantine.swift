import Files
import FolderWatch
import PipelineKit
import SystemPackage

// What may have crashed an earlier run, and who holds drops open. All of it on the intake's queue.
extension Intake {
    /// Loads what earlier runs crashed on, and starts noting what this one examines.
    func openNote() {
        let folder = spool.work.looks
        do throws(IOError) {
            note = try LookNote(in: folder, on: executor.queue)
            proofs.note = try LookNote(in: folder, named: "proofs", on: proofs.queue)
            copying.note = try LookNote(in: folder, named: "copies", on: copying.queue)
        } catch {
            // Without space for a note there is none: processing drops is more important.
        }
        // Work on other queues takes longest, so it is the first suspect.
        let beside = [proofs.note?.left, copying.note?.left].compactMap { $0 }
        let left = beside.isEmpty ? [note?.left].compactMap { $0 } : beside
        quarantine = Quarantine(
            in: folder, left: left, others: suspectsOfOthers(), limit: Recovery.limit(of: spool.pipeline))
    }

    /// What other nodes know of, and what those that are dead were examining.
    private func suspectsOfOthers() -> [LookNote.Subject: Int] {
        guard let folders = NodeFolders(beside: spool.work), let living = node.living() else { return [:] }
        do throws(IOError) {
            return try folders.others().reduce(into: [:]) { counts, other in
                let isDead = !living.contains(other)
                if isDead { countedDead.insert(other) }
                counts.merge(Quarantine.counts(in: folders.looks(of: other), isDead: isDead), uniquingKeysWith: +)
            }
        } catch {
            return [:]
        }
    }

    /// A node that is dead has died of looks at these, and its notes are about to go; `done` is called when that is
    /// written down here.
    nonisolated func suspect(
        _ found: [LookNote.Subject: Int], of node: String, done: @escaping @Sendable () -> Void
    ) {
        enqueue { intake in
            intake.quarantine.suspect(found, isKnown: intake.countedDead.contains(node))
            intake.turnSoon()
            done()
        }
    }

    /// Notes what is examined, in case the daemon crashes during it.
    func noteLook(at path: DropPath) { note?.begin(.drop(path)) }

    func noteLook(at job: Job) { note?.begin(.job(job.slot)) }

    /// The existing drops that wait for their turn.
    var heldDrops: [DropPath] {
        quarantine.held.compactMap { subject in
            if case .drop(let path) = subject, knows(path) { path } else { nil }
        }
    }

    /// Forgets those that are gone.
    func forgetGone() {
        for subject in quarantine.held {
            let isThere =
                switch subject {
                case .drop(let path): knows(path)
                case .job(let id): heldJobs.contains { $0.slot == id }
                }
            if !isThere { quarantine.clear(subject) }
        }
    }

    /// Examines or rejects one quarantined drop when there is no other work: if the daemon dies again, it is to blame.
    func admitQuarantined() throws(IOError) {
        guard !quarantine.held.isEmpty, hasScanned, paused == nil, !isYielding, isQuiet || quarantine.isPatienceOver
        else { return }
        if let job = heldJobs.first {
            heldJobs.removeFirst()
            quarantine.admit(.job(job.slot))
            adopt([job])
            return
        }
        guard !isHeldBack, let path = heldDrops.min() else { return }
        quarantine.admit(.drop(path))
        guard let failure = quarantine.verdict(on: .drop(path), named: path.name) else {
            return gate.touch(path, at: .now())
        }
        reject(path, .unknown(), failure)
    }

    /// Nothing is in progress or due, except drops that wait for their senders.
    private var isQuiet: Bool {
        (ready.isEmpty || isHeldBack) && room.jobs <= lateWriters.paths.count && proofs.count == 0 && longLooks.isEmpty
            && lateWriters.allDisturbed && gate.waiting.allSatisfy(\.isDisturbed)
    }

    /// Reports a drop that is held open for long, unless a `timeout` ends that.
    func reportHeldOpen(_ path: DropPath, _ subject: LookNote.Subject, by writer: Waiting.Writer) {
        guard spool.pipeline.ready.timeout == nil, let time = heldOpen.saw(subject, at: .now()) else { return }
        deliver(.heldOpen(path, writer, for: time))
    }
}
