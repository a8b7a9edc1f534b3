import PipelineKit
import SystemPackage

/// Looks at drops, and claims them.
extension Intake {
    /// How many samples or claims are made before events get their turn.
    private static let batch = 256

    func sample(_ inbox: OpenInbox) throws(IOError) {
        let requests = gate.due(at: .now(), limit: Self.batch)
        for (index, request) in requests.enumerated() {
            let found: Examiner.Finding
            let begun = MonotonicTime.now()
            do throws(IOError) {
                found = try look(at: request.key, in: inbox, deciding: request.deciding)
            } catch {
                // None of those that are due may be forgotten because one could not be looked at.
                let later = MonotonicTime.now() + Self.troubledPause
                for unanswered in requests[index...] { gate.postpone(unanswered.key, to: later) }
                throw error
            }
            switch gate.record(
                found.sample, of: request.key, at: .now(), lacking: found.lacking, cost: .now() - begun)
            {
            case .ready(let fingerprint): ready.add(request.key, fingerprint)
            case .refused(let reason): report(request.key, reason)
            case .overdue(let fingerprint, let waiting):
                condemn(request.key, fingerprint, .overdue(request.key.name, waiting, spool.pipeline.ready))
            case .vanished: forgetReport(request.key)
            case .waiting, .ignored: break
            }
        }
    }

    func claim(_ inbox: OpenInbox) throws(IOError) {
        guard claimOrder.holds(nextDue: gate.nextDue, at: .now()), mayClaim else { return }
        do throws(StageFailure) {
            try space.check()
        } catch {
            return fail(error)
        }
        var claimed: [Spool.Claimed] = []
        defer { if !claimed.isEmpty { deliver(.claimed(claimed, adopted: false)) } }
        while mayClaim, claimed.count < Self.batch, let next = ready.first() {
            ready.removeFirst()
            let claim: Spool.Claim
            do throws(IOError) {
                claim = try self.claim(next.path, next.fingerprint, in: inbox)
            } catch {
                condemned[next.path] = nil
                gate.touch(next.path, at: .now())
                throw error
            }
            condemned[next.path] = nil
            switch claim {
            case .taken(let claim):
                took(next.path)
                room.take(claim.job.drop.size)
                claimed.append(claim)
            case .draining(let job, let reason):
                took(next.path)
                room.take(job.drop.size)
                draining.add(job)
                deliver(.draining(job, reason: reason))
            case .vanished: took(next.path)
            case .refused(let reason):
                gate.refuse(next.path, because: reason, at: .now())
                report(next.path, reason)
            }
        }
    }

    private func claim(_ path: DropPath, _ ready: Fingerprint, in inbox: OpenInbox) throws(IOError) -> Spool.Claim {
        let folder: OpenInbox.Opened
        do throws(IOError) {
            folder = try inbox.open(path.folder)
        } catch {
            guard error.isUnreachable else { throw error }
            return .vanished
        }
        return try spool.claim(
            path.name, ready: ready, in: folder.file, at: path.folder, as: ids.next(), condemned: condemned[path],
            othersNeedMarker: examiner.sharesMarker(path))
    }

    private func took(_ path: DropPath) {
        watcher?.took(path)
        if let marker = examiner.took(path, at: .now()) { watcher?.took(marker) }
    }

    /// Jobs of an earlier run: one with an open writer, or where that cannot be told, stands still once more first.
    func adopt(_ jobs: [Job]) {
        var complete: [Spool.Claimed] = []
        for job in jobs {
            do throws(IOError) {
                if let failure = try Condemnation.read(in: job.folder) {
                    let identity = FileIdentity.of(job.original) ?? .unknown
                    room.take(job.drop.size)
                    complete.append(Spool.Claimed(job: job, identity: identity, failure: failure))
                    continue
                }
                let look = try spool.look(at: job)
                if case .file(let fingerprint, let writers) = look.sample, writers == .none || writers == .notAsked,
                    case .taken(let claimed) = try spool.prove(job, ready: fingerprint)
                {
                    room.take(claimed.job.drop.size)
                    complete.append(claimed)
                    continue
                }
            } catch {
                fail(StageFailure(error))
            }
            room.take(job.drop.size)
            draining.add(job)
        }
        if !complete.isEmpty { deliver(.claimed(complete, adopted: true)) }
    }

    func drain() throws(IOError) {
        let drained = draining.turn(spool)
        for job in drained.ended { room.giveBack(job.drop.size) }
        for claimed in drained.complete { room.take(claimed.job.drop.size) }
        if !drained.complete.isEmpty { deliver(.claimed(drained.complete, adopted: false)) }
        if let error = drained.error { throw error }
    }
}
