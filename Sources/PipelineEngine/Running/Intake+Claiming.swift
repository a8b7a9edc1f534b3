import PipelineKit
import SystemPackage

/// Looks at drops, and claims them.
extension Intake {
    /// How many samples or claims are made before events get their turn.
    private static let batch = 256

    func sample(_ inbox: OpenInbox) throws(IOError) {
        let requests = gate.due(at: .now(), limit: Self.batch)
        for (index, request) in requests.enumerated() {
            let sample: Sample
            do throws(IOError) {
                sample = seen(try look(at: request.key, in: inbox, deciding: request.deciding))
            } catch {
                // None of those that are due may be forgotten because one could not be looked at.
                let later = MonotonicTime.now() + Self.troubledPause
                for unanswered in requests[index...] { gate.postpone(unanswered.key, to: later) }
                throw error
            }
            switch gate.record(sample, of: request.key, at: .now()) {
            case .ready(let fingerprint): ready.add(request.key, fingerprint)
            case .refused(let reason): report(request.key, reason)
            case .vanished: forgetReport(request.key)
            case .waiting, .ignored: break
            }
        }
    }

    private func look(at path: DropPath, in inbox: OpenInbox, deciding: Bool) throws(IOError) -> Sample {
        let folder: OpenInbox.Opened
        do throws(IOError) {
            folder = try inbox.open(path.folder)
        } catch {
            if error.isUnreachable { return .gone }
            guard error.errno == .permissionDenied else { throw error }
            return .refused("its folder may not be entered (\(error.errno))")
        }
        return try Sample.take(of: path.name, in: folder.file, writers: deciding)
    }

    /// What is to be believed of a sample: on a network file system a lease says nothing of writers elsewhere.
    private func seen(_ sample: Sample) -> Sample {
        guard case .file(let fingerprint, let writers) = sample, writers == .none || writers == .unknown else {
            return sample
        }
        let isBlind = writers == .unknown || isOnNetwork
        if isBlind { tellBlindness() }
        return .file(fingerprint, isBlind ? .unknown : .none)
    }

    func claim(_ inbox: OpenInbox) throws(IOError) {
        // An order among drops holds among all that are complete by now.
        if spool.pipeline.order != .arrival, let due = gate.nextDue, due <= .now() { return }
        guard mayClaim else { return }
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
                gate.touch(next.path, at: .now())
                throw error
            }
            switch claim {
            case .taken(let claim):
                watcher?.took(next.path)
                room.take(claim.job.drop.size)
                claimed.append(claim)
            case .draining(let job, let reason):
                watcher?.took(next.path)
                room.take(job.drop.size)
                draining.add(job)
                deliver(.draining(job, reason: reason))
            case .vanished: watcher?.took(next.path)
            case .refused(let reason):
                gate.refuse(next.path, at: .now())
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
        return try spool.claim(path.name, ready: ready, in: folder.file, at: path.folder, as: ids.next())
    }

    /// Jobs of an earlier run: one with an open writer, or where that cannot be told, stands still once more first.
    func adopt(_ jobs: [Job]) {
        var complete: [Spool.Claimed] = []
        for job in jobs {
            do throws(IOError) {
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
