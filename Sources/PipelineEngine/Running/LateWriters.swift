import Files
import FolderWatch
import PipelineKit

/// Claimed drops that a process still writes to: they wait in their job's folder, where no one else can open them,
/// until they have stood still. A value of the intake.
struct LateWriters {
    /// Keyed by slot: drops of one name may be claimed one after the other.
    private(set) var gate: ReadyGate
    private var jobs: [DropPath: Job] = [:]
    /// Since when each waits here.
    private var since: [DropPath: MonotonicTime] = [:]

    private let rule: ReadyRule

    init(rule: ReadyRule) {
        self.rule = rule
        var claimed = rule
        // Empty files are ignored in the inbox; one that is claimed runs, proved as any other.
        claimed.empty = .process
        gate = ReadyGate(rule: claimed)
    }

    var all: [Job] { Array(jobs.values) }

    var paths: [DropPath] { jobs.values.map(\.drop.path) }

    /// Whether each of them was seen to change, or held open, while it waited here.
    var allDisturbed: Bool { gate.waiting.allSatisfy(\.isDisturbed) }

    /// What they wait for, longest first.
    func standing(at now: MonotonicTime, limit: Int) -> [WaitingDrop] {
        gate.longest(limit).compactMap { slot in
            guard let job = jobs[slot], let waiting = gate.waiting(for: slot, at: now) else { return nil }
            let known = gate.admitted(slot).map { now - $0 }
            return WaitingDrop(path: job.drop.path.bytes, known: known, waiting: waiting, isClaimed: true)
        }
    }

    /// What the drop from that path waits for; nil if there is none.
    func standing(of path: DropPath, at now: MonotonicTime) -> WaitingDrop? {
        guard let job = jobs.values.first(where: { $0.drop.path == path }),
            let waiting = gate.waiting(for: job.slot, at: now)
        else { return nil }
        let known = gate.admitted(job.slot).map { now - $0 }
        return WaitingDrop(path: path.bytes, known: known, waiting: waiting, isClaimed: true)
    }

    mutating func add(_ job: Job) {
        jobs[job.slot] = job
        since[job.slot] = .now()
        gate.touch(job.slot, at: .now())
    }

    /// The results of a round of looks.
    struct Turn {
        /// They may run now.
        var complete: [Spool.Claimed] = []
        /// They are complete, and have to be copied.
        var copying: [Job] = []
        /// Those that no longer wait: complete, or removed from the work folder.
        var ended: [Job] = []
        var lost: [Job] = []
        /// Those that a process holds open.
        var held: [(Job, Waiting.Writer)] = []
        /// They are due, and may take long to look at: each is to be answered by `looked`.
        var folders: [Job] = []
        /// Why none can be examined; a problem of one drop is not reported here.
        var error: IOError?
    }

    /// Examines the files that are due. What could not be examined stays for another look.
    ///
    /// `room`: how many more may run; the others keep waiting. `noting`: called for each that is examined.
    mutating func turn(
        _ spool: Spool, _ room: ActiveRoom = .unlimited, noting: (Job) -> Void = { _ in }
    ) -> Turn {
        var turn = Turn()
        var still: [(job: Job, state: Fingerprint)] = []
        for request in gate.due(at: .now()) {
            guard let job = jobs[request.key] else { continue }
            guard !job.drop.isFolder else {
                turn.folders.append(job)
                continue
            }
            noting(job)
            if let state = looked(at: job, Self.look(at: job, spool), &turn) { still.append((job, state)) }
        }
        let now = MonotonicTime.now()
        var room = room
        for (job, state) in still {
            guard room.has(job.drop.size, of: job.producer) else {
                wait(job)
                continue
            }
            room.reserve(job.drop.size, of: job.producer)
            noting(job)
            proved(job, Self.proof(of: job, state, spool, claimed: now), &turn)
        }
        return turn
    }

    /// One look, and the processor time that it took.
    struct Look: Sendable {
        let result: Result<Spool.Look, IOError>
        let cost: Duration
    }

    static func look(at job: Job, _ spool: Spool) -> Look {
        let begun = MonotonicTime.spentByThread()
        let result = Result { () throws(IOError) in
            do throws(IOError) {
                return try spool.look(at: job)
            } catch {
                guard error.errno == .noSuchFileOrDirectory else { throw error }
                return Spool.Look(sample: .gone)
            }
        }
        return Look(result: result, cost: MonotonicTime.spentByThread() - begun)
    }

    static func proof(
        of job: Job, _ state: Fingerprint, _ spool: Spool, claimed: MonotonicTime
    ) -> Result<Spool.Proof, IOError> {
        Result { () throws(IOError) in try spool.prove(job, ready: state, claimed: claimed) }
    }

    /// Takes in a look at one. Its state, where it stood still and is to be proved.
    mutating func looked(at job: Job, _ look: Look, _ turn: inout Turn) -> Fingerprint? {
        guard jobs[job.slot] != nil else { return nil }
        var state: Fingerprint?
        attempt(job, &turn) { (lateWriters, turn) throws(IOError) in
            state = try lateWriters.judge(job, try look.result.get(), cost: look.cost, &turn)
        }
        return state
    }

    /// One that stood still has to wait for room.
    mutating func wait(_ job: Job) { gate.postpone(job.slot, to: .now() + Self.pauseForRoom) }

    /// Takes in the proof of one.
    mutating func proved(_ job: Job, _ proof: Result<Spool.Proof, IOError>, _ turn: inout Turn) {
        guard jobs[job.slot] != nil else { return }
        attempt(job, &turn) { (lateWriters, turn) throws(IOError) in
            switch try proof.get() {
            case .complete(let claimed):
                lateWriters.end(job, &turn)
                turn.complete.append(claimed)
            case .copying:
                lateWriters.end(job, &turn)
                turn.copying.append(job)
            case .stillWritten: lateWriters.gate.touch(job.slot, at: .now())
            }
        }
    }

    private static let pauseAfterTrouble = Duration.seconds(1)
    private static let pauseForRoom = Duration.milliseconds(100)

    private mutating func attempt(
        _ job: Job, _ turn: inout Turn, _ body: (inout LateWriters, inout Turn) throws(IOError) -> Void
    ) {
        do throws(IOError) {
            try body(&self, &turn)
        } catch {
            if error.errno.trouble(with: .drop) == .pauses {
                turn.error = error
            } else if let timeout = rule.timeout, let since = since[job.slot], .now() - since >= timeout,
                rejectOverdue(job, error, &turn)
            {
                return
            }
            gate.postpone(job.slot, to: .now() + Self.pauseAfterTrouble)
        }
    }

    /// What a look says. The state of one that stood still.
    private mutating func judge(
        _ job: Job, _ look: Spool.Look, cost: Duration, _ turn: inout Turn
    ) throws(IOError) -> Fingerprint? {
        if case .file(_, .some(let writer)) = look.sample { turn.held.append((job, writer)) }
        switch gate.record(look.sample, of: job.slot, at: .now(), cost: cost) {
        case .ready(let fingerprint):
            guard let excess = look.excess else { return fingerprint }
            try reject(job, .excess(job.drop.name, excess, rule.limits), fingerprint.identity, &turn)
        case .overdue(let fingerprint, let waiting):
            let failure = Failure.overdue(job.drop.name, waiting, rule)
            let identity = FileIdentity.of(job.original) ?? fingerprint.identity
            try reject(job, failure, identity, &turn)
        case .vanished:
            end(job, &turn)
            turn.lost.append(job)
        case .refused(let reason):
            // It was complete, and became this before it was claimed: nothing but a failure gets it out of here.
            let failure = Failure.unfit(job.drop.name, reason)
            try reject(job, failure, FileIdentity.of(job.original) ?? .unknown, &turn)
        case .waiting, .ignored: break
        }
        return nil
    }

    /// Its own problem has lasted for its whole `timeout`. Returns whether its failure could be recorded.
    private mutating func rejectOverdue(_ job: Job, _ error: IOError, _ turn: inout Turn) -> Bool {
        let failure = Failure.overdue(job.drop.name, .blocked("\(error)"), rule)
        do throws(IOError) {
            try reject(job, failure, FileIdentity.of(job.original) ?? .unknown, &turn)
            return true
        } catch {
            return false
        }
    }

    private mutating func reject(
        _ job: Job, _ failure: Failure, _ identity: FileIdentity, _ turn: inout Turn
    ) throws(IOError) {
        try Rejection.write(failure, in: job.folder)
        gate.forget(job.slot)
        end(job, &turn)
        turn.complete.append(Spool.Claimed(job: job, identity: identity, failure: failure))
    }

    private mutating func end(_ job: Job, _ turn: inout Turn) {
        jobs[job.slot] = nil
        since[job.slot] = nil
        turn.ended.append(job)
    }
}

extension Job {
    /// The name of its folder, which no other job has.
    fileprivate var slot: DropPath { DropPath(id.fileName) }
}
