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
        /// Nobody can tell whether drops are open for writing: a longer quiet time holds.
        case blind
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
    private var hasToldBlindness = false
    private let isOnNetwork: Bool
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
        isOnNetwork = FileSystemKind.of(spool.pipeline.inbox) != .local
        let match = spool.pipeline.match
        watcher = InboxWatcher(
            inbox: spool.pipeline.inbox, inotify: inotify, queue: queue,
            interest: { @Sendable name in match.verdict(on: name) == .taken },
            listener: InboxWatcher.Listener(
                changed: { @Sendable [weak self] changes, isInitial in self?.take(changes, isInitial: isInitial) },
                scanned: { @Sendable [weak self] in self?.scanned() },
                watching: { @Sendable mode, reason in deliver(.watching(mode, reason: reason)) },
                failed: { @Sendable [weak self] error in self?.fail(StageFailure(error)) }))
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
            switch change {
            case .appeared(let path), .changed(let path):
                // `once` is for what is there now.
                if isOnce, hasScanned, !gate.contains(path), fingerprints[path] == nil { continue }
                fingerprints[path] = nil
                gate.touch(path, at: now)
            case .vanished(let path):
                fingerprints[path] = nil
                gate.forget(path)
                reported[path] = nil
            }
        }
        if isInitial { hasScanned = true }
        turn()
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
            try claim(inbox)
            try drain()
        } catch {
            fail(StageFailure(error))
            // What is due stays due; without a pause this would spin until the trouble is over.
            return wake(after: Self.troubledPause)
        }
        let now = MonotonicTime.now()
        let due = [gate.nextDue, draining.gate.nextDue].compactMap { $0 }.min()
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
            case .ready(let fingerprint):
                fingerprints[request.key] = fingerprint
                ready.append(request.key)
            case .refused(let reason): report(request.key, reason)
            case .waiting, .vanished, .ignored: break
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

    /// What is to be believed of a sample: on a network file system a lease says nothing of writers elsewhere.
    private func seen(_ sample: Sample) -> Sample {
        guard case .file(let fingerprint, let writers) = sample, writers == .none || writers == .unknown else {
            return sample
        }
        let isBlind = writers == .unknown || isOnNetwork
        if isBlind, !hasToldBlindness {
            hasToldBlindness = true
            deliver(.blind)
        }
        return .file(fingerprint, isBlind ? .unknown : .none)
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
            switch claim {
            case .taken(let claim):
                watcher?.took(path)
                room -= 1
                claimed.append(claim)
            case .draining(let job, let reason):
                watcher?.took(path)
                room -= 1
                draining.add(job)
                deliver(.draining(job, reason: reason))
            case .vanished: watcher?.took(path)
            case .refused(let reason):
                gate.refuse(path, at: .now())
                report(path, reason)
            }
        }
    }

    /// Jobs of an earlier run: one with an open writer, or where that cannot be told, stands still once more first.
    private func adopt(_ jobs: [Job]) {
        guard !jobs.isEmpty else { return }
        room -= jobs.count
        var complete: [Spool.Claimed] = []
        for job in jobs {
            do throws(IOError) {
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
        let inInbox = waiting.map { Left(path: $0.key, reason: "stays in the inbox: still being written") }
        let claimed = draining.paths.map {
            Left(path: $0, reason: "stays in the work folder: still being written by a process that has it open")
        }
        let refused = reported.map { Left(path: $0.key, reason: "stays in the inbox: \($0.value)") }
        deliver(.idle(remaining: inInbox + claimed + refused.sorted { $0.path < $1.path }))
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
