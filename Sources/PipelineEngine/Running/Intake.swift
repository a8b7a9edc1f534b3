import DequeModule
@preconcurrency import Dispatch
import Glibc
import PipelineKit
import SystemPackage

/// Brings the drops of one pipeline from its inbox to the engine: watches, waits until they are complete, claims as
/// many as there is room for.
///
/// All of it lives on its own queue, `dropmill.<pipeline>.inbox`; what it has to say is delivered there.
final class Intake: @unchecked Sendable {
    // @unchecked: every `var` below is touched on `queue` only.

    /// What the intake says.
    enum Message: Sendable {
        case claimed([Spool.Claimed], adopted: Bool)
        case draining(Job, reason: String)
        case refused(DropPath, reason: String)
        case watching(WatchMode, reason: String?)
        /// So many drops wait in the inbox.
        case waiting(Int)
        /// Our own folders are in trouble; nothing is claimed until `resume`.
        case failed(StageFailure)
        /// With `once`: nothing is left to be claimed but these, which are still being written.
        case idle(remaining: [Left])
        /// How open writers are found out.
        case sight(WriterSight.Means)
    }

    /// A drop that is not taken, and why.
    struct Left: Sendable {
        let path: DropPath
        let reason: String
    }

    let spool: Spool
    private let space: FreeSpace
    let queue: DispatchQueue
    private let ids: JobIDGenerator
    private let isOnce: Bool
    private let deliver: @Sendable (Message) -> Void
    private(set) var watcher: InboxWatcher?

    private(set) var gate: ReadyGate<DropPath>
    private var ready = Deque<DropPath>()
    private(set) var fingerprints: [DropPath: Fingerprint] = [:]
    var draining: Draining
    /// What was refused, and why: told once.
    private(set) var reported: [DropPath: String] = [:]
    /// Why drops in `ready` fail without being complete.
    private var condemned: [DropPath: StageFailure] = [:]
    private(set) var examiner: Examiner
    private let digests: DigestCheck<DropPath>
    private var room: Int
    private var isPaused = false
    private var isRunning = false
    private var hasScanned = false
    private var toldWaiting = -1
    private var timer: (any DispatchSourceTimer)?

    /// How many samples or claims are made before events get their turn.
    private static let batch = 256

    /// How long to wait when the inbox or the work folder cannot be used.
    private static let troubledPause = Duration.seconds(1)

    init(
        spool: Spool, inotify: InotifyEvents?, ids: JobIDGenerator, once: Bool,
        deliver: @escaping @Sendable (Message) -> Void
    ) {
        self.spool = spool
        space = FreeSpace(of: spool.folders, floor: spool.pipeline.minFree)
        self.ids = ids
        self.deliver = deliver
        isOnce = once
        queue = DispatchQueue(label: "dropmill.\(spool.pipeline.name).inbox")
        gate = ReadyGate(rule: spool.pipeline.ready)
        draining = Draining(rule: spool.pipeline.ready)
        room = spool.pipeline.activeJobs
        let (match, rule) = (spool.pipeline.match, spool.pipeline.ready)
        digests = DigestCheck(of: spool.pipeline.name, for: queue)
        examiner = Examiner(rule: rule, sight: spool.sight, digests: digests)
        watcher = InboxWatcher(
            inbox: spool.pipeline.inbox, inotify: inotify, queue: queue,
            interest: { @Sendable name in rule.isMarkerBeside(name) || match.verdict(on: name) == .taken },
            listener: InboxWatcher.Listener(
                changed: { @Sendable [weak self] changes, isInitial in self?.take(changes, isInitial: isInitial) },
                scanned: { @Sendable [weak self] in self?.scanned() },
                watching: { @Sendable mode, reason in deliver(.watching(mode, reason: reason)) },
                failed: { @Sendable [weak self] error in self?.fail(StageFailure(error)) }))
        digests.whenDone = { @Sendable [weak self] path in self?.recheck([path]) }
    }

    // MARK: From the engine, on any queue

    /// Takes in jobs that an earlier run left and the journal does not know, then watches the inbox. `resumed`: how
    /// many others take up room.
    func start(adopting jobs: [Job], resumed: Int) {
        queue.async { @Sendable [self] in
            isRunning = true
            room -= resumed
            adopt(jobs)
            watcher?.start()
            turn()
        }
    }

    /// Ends watching and claiming; `done` is called on the queue when nothing is open any more.
    func stop(done: @escaping @Sendable () -> Void) {
        queue.async { @Sendable [self] in
            isRunning = false
            watcher?.stop()
            watcher = nil
            digests.stop()
            timer?.cancel()
            timer = nil
            done()
        }
    }

    /// So many jobs are over: others may be claimed.
    func release(_ count: Int) {
        queue.async { @Sendable [self] in
            room += count
            turn()
        }
    }

    /// Has it say how many drops wait, if that changed.
    func askWaiting() {
        queue.async { @Sendable [self] in
            let count = gate.waitingCount + fingerprints.count
            if count != toldWaiting { deliver(.waiting(count)) }
            toldWaiting = count
        }
    }

    /// Claims nothing more until `resume`; watching goes on.
    func pause() { queue.async { @Sendable [self] in isPaused = true } }

    /// Claims again.
    func resume() {
        queue.async { @Sendable [self] in
            isPaused = false
            turn()
        }
    }

    // MARK: On the queue

    private func take(_ changes: [InboxChange], isInitial: Bool) {
        let now = MonotonicTime.now()
        for change in changes {
            if let drops = examiner.take(change, at: now) {
                look(again: drops, at: now)
                continue
            }
            switch change {
            case .appeared(let path), .changed(let path):
                // `once` is for what is there now; and what is to fail fails as it is.
                if isOnce, hasScanned, !gate.contains(path), fingerprints[path] == nil { continue }
                if condemned[path] != nil { continue }
                fingerprints[path] = nil
                gate.touch(path, at: now)
            case .vanished(let path):
                fingerprints[path] = nil
                condemned[path] = nil
                gate.forget(path)
                reported[path] = nil
            }
        }
        if isInitial { hasScanned = true }
        turn()
    }

    /// Something that has to come with these drops may be different.
    private func recheck(_ drops: Set<DropPath>) {
        guard isRunning else { return }
        look(again: drops, at: .now())
        turn()
    }

    private func look(again drops: Set<DropPath>, at now: MonotonicTime) {
        for path in drops where condemned[path] == nil {
            if fingerprints.removeValue(forKey: path) == nil {
                gate.recheck(path, at: now)
            } else {
                gate.touch(path, at: now)
            }
        }
    }

    /// A refused name may have become a file without an event.
    private func scanned() {
        gate.touchParked(at: .now())
        turn()
    }

    /// Samples what is due, claims what is ready, and sets the timer for the next time.
    private func turn() {
        guard isRunning else { return }
        do throws(IOError) {
            let inbox = try OpenInbox(spool.pipeline.inbox)
            try sample(inbox)
            try condemnMarkers(in: inbox)
            try claim(inbox)
            try drain()
        } catch {
            fail(StageFailure(error))
            // What is due stays due; without a pause this would spin until the trouble is over.
            return wake(after: Self.troubledPause)
        }
        if let means = spool.sight.news() { deliver(.sight(means)) }
        let now = MonotonicTime.now()
        let due = [gate.nextDue, draining.gate.nextDue, examiner.nextDue].compactMap { $0 }.min()
        if let due, due <= now {
            queue.async { @Sendable [self] in turn() }
        } else if canClaim, !ready.isEmpty {
            queue.async { @Sendable [self] in turn() }
        } else {
            wake(after: due.map { $0 - now })
        }
        tellIfIdle()
    }

    private var canClaim: Bool { room > 0 && !isPaused }

    private func sample(_ inbox: OpenInbox) throws(IOError) {
        let requests = gate.due(at: .now(), limit: Self.batch)
        for (index, request) in requests.enumerated() {
            let found: Examiner.Finding
            do throws(IOError) {
                found = try look(at: request.key, in: inbox, deciding: request.deciding)
            } catch {
                // None of those that are due may be forgotten because one could not be looked at.
                let later = MonotonicTime.now() + Self.troubledPause
                for unanswered in requests[index...] { gate.postpone(unanswered.key, to: later) }
                throw error
            }
            switch gate.record(found.sample, of: request.key, at: .now(), lacking: found.lacking) {
            case .ready(let fingerprint):
                fingerprints[request.key] = fingerprint
                ready.append(request.key)
            case .refused(let reason): report(request.key, reason)
            case .overdue(let fingerprint, let waiting):
                condemn(request.key, fingerprint, .overdue(request.key.name, waiting, spool.pipeline.ready))
            case .waiting, .vanished, .ignored: break
            }
        }
    }

    private func condemn(_ path: DropPath, _ fingerprint: Fingerprint, _ failure: StageFailure) {
        fingerprints[path] = fingerprint
        condemned[path] = failure
        ready.append(path)
    }

    /// Markers whose drops have not come: failed where the rule sets a time, else reported.
    private func condemnMarkers(in inbox: OpenInbox) throws(IOError) {
        let rule = spool.pipeline.ready
        for marker in examiner.overdueMarkers(at: .now()) {
            guard rule.timeout != nil else {
                report(marker, "it is a marker whose drop has not come; drop that too, or set `ready.timeout`")
                continue
            }
            let found = try Sample.take(of: marker.name, in: try inbox.open(marker.folder).file)
            guard case .file(let fingerprint, _) = found else { continue }
            condemn(marker, fingerprint, .markerWithoutDrop(marker.name, rule))
        }
    }

    private func look(
        at path: DropPath, in inbox: OpenInbox, deciding: Bool
    ) throws(IOError) -> Examiner.Finding {
        let folder: OpenInbox.Opened
        do throws(IOError) {
            folder = try inbox.open(path.folder)
        } catch {
            if error.isUnreachable { return Examiner.Finding(sample: .gone) }
            guard error.errno == .permissionDenied else { throw error }
            return Examiner.Finding(sample: .refused("its folder may not be entered (\(error.errno))"))
        }
        return try examiner.look(at: path, in: folder.file, deciding: deciding)
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
            leavingMarker: examiner.sharesMarker(path))
    }

    private func claim(_ inbox: OpenInbox) throws(IOError) {
        if canClaim, !ready.isEmpty {
            do throws(StageFailure) {
                try space.check()
            } catch {
                return fail(error)
            }
        }
        var claimed: [Spool.Claimed] = []
        defer { if !claimed.isEmpty { deliver(.claimed(claimed, adopted: false)) } }
        while canClaim, claimed.count < Self.batch, let path = ready.popFirst() {
            // One that was touched since is back in the gate.
            guard let fingerprint = fingerprints.removeValue(forKey: path) else { continue }
            let claim: Spool.Claim
            do throws(IOError) {
                claim = try self.claim(path, fingerprint, in: inbox)
            } catch {
                gate.touch(path, at: .now())
                throw error
            }
            condemned[path] = nil
            switch claim {
            case .taken(let claim):
                took(path)
                room -= 1
                claimed.append(claim)
            case .draining(let job, let reason):
                took(path)
                room -= 1
                draining.add(job)
                deliver(.draining(job, reason: reason))
            case .vanished: took(path)
            case .refused(let reason):
                gate.refuse(path, because: reason, at: .now())
                report(path, reason)
            }
        }
    }

    private func took(_ path: DropPath) {
        watcher?.took(path)
        if let marker = examiner.took(path, at: .now()) { watcher?.took(marker) }
    }

    /// Jobs of an earlier run: one with an open writer, or where that cannot be told, stands still once more first.
    private func adopt(_ jobs: [Job]) {
        guard !jobs.isEmpty else { return }
        room -= jobs.count
        var complete: [Spool.Claimed] = []
        for job in jobs {
            do throws(IOError) {
                if let failure = try Condemnation.read(in: job.folder) {
                    let identity = FileIdentity.of(job.original) ?? .unknown
                    complete.append(Spool.Claimed(job: job, identity: identity, failure: failure))
                    continue
                }
                let look = try spool.look(at: job)
                if case .file(let fingerprint, let writers) = look.sample, writers == .none || writers == .notAsked,
                    case .taken(let claimed) = try spool.prove(job, ready: fingerprint)
                {
                    complete.append(claimed)
                } else {
                    draining.add(job)
                }
            } catch {
                draining.add(job)
                fail(StageFailure(error))
            }
        }
        if !complete.isEmpty { deliver(.claimed(complete, adopted: true)) }
    }

    private func drain() throws(IOError) {
        let drained = draining.turn(spool)
        room += drained.lost
        if !drained.complete.isEmpty { deliver(.claimed(drained.complete, adopted: false)) }
        if let error = drained.error { throw error }
    }

    private func report(_ path: DropPath, _ reason: String) {
        guard reported[path] != reason else { return }
        reported[path] = reason
        deliver(.refused(path, reason: reason))
    }

    private func fail(_ failure: StageFailure) {
        guard isRunning, !isPaused else { return }
        isPaused = true
        deliver(.failed(failure))
    }

    private func tellIfIdle() {
        guard isOnce, isRunning, hasScanned, fingerprints.isEmpty else { return }
        let waiting = gate.waiting
        guard waiting.allSatisfy(\.isDisturbed), draining.allDisturbed else { return }
        let now = MonotonicTime.now()
        let inInbox = waiting.map { (path, _) in
            let lack = gate.waiting(for: path, at: now).flatMap { $0.isLack ? $0.text : nil }
            return Left(path: path, reason: "stays in the inbox: \(lack ?? "still being written")")
        }
        let alone = examiner.markersAlone.map {
            Left(path: $0, reason: "stays in the inbox: \(Waiting.markerWithoutDrop.text)")
        }
        let claimed = draining.paths.map {
            Left(path: $0, reason: "stays in the work folder: still being written by a process that has it open")
        }
        let refused = reported.map { Left(path: $0.key, reason: "stays in the inbox: \($0.value)") }
        deliver(.idle(remaining: inInbox + alone + claimed + refused.sorted { $0.path < $1.path }))
    }

    private func wake(after pause: Duration?) {
        guard let pause else {
            timer?.schedule(deadline: .distantFuture)
            return
        }
        if timer == nil {
            let timer = DispatchSource.makeTimerSource(queue: queue)
            timer.setEventHandler { @Sendable [weak self] in self?.turn() }
            timer.activate()
            self.timer = timer
        }
        timer?.schedule(deadline: .now() + .nanoseconds(Int(max(0, pause.nanoseconds))), leeway: .milliseconds(1))
    }
}
