@preconcurrency import Dispatch
import Files
import FolderWatch
import Glibc
import Journal
import PipelineKit
import Readiness
import SystemPackage

/// Brings the drops of one pipeline from its inbox to the engine: watches, waits until they are complete, claims as
/// many as there is room for.
///
/// It lives on its own queue, `dropmill.<pipeline>.inbox`; what it has to say is delivered there.
actor Intake: QueueActor {
    nonisolated let spool: Spool
    /// The quick way of small drops; nil where the pipeline has none.
    nonisolated let lane: QuickLane?
    let space: FreeSpace
    let ids: JobIDGenerator
    let deliver: @Sendable (Message) -> Void
    let node: NodeStanding
    /// Whether this node lists the inbox; nil: always.
    nonisolated let lead: ScanLead?
    /// Since when there is no room for what is complete, as far as that is looked at.
    var fullSince: MonotonicTime?
    var countedDead: Set<String> = []
    nonisolated let executor: QueueExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    let events: any FolderEvents
    var watcher: InboxWatcher?
    var gate: ReadyGate
    var ready: ReadyQueue
    /// What other nodes are to take first.
    var ceded = CededDrops()
    /// How often nodes had come or gone when it was last seen which drops are theirs.
    var knownNodes = 0
    /// How those came here that are claimed and not yet reported.
    var arrivals: [JobID: Arrival] = [:]
    /// What keeps, and kept, drops from being claimed.
    var obstacles = Obstacles()
    var lateWriters: LateWriters
    var copying: Copying
    var room: ActiveRoom
    /// Whose jobs take up room, where each producer has so much of it.
    var counted: [JobID: String] = [:]
    /// How fast drops are claimed; nil: as fast as they come.
    var limit: ClaimLimit?
    var hasToldOfLimit = false
    /// When what is complete may be claimed without harm to the order.
    var claimOrder: ClaimOrder
    /// How many batches the lane has.
    var quickBatches = 0
    let isOnce: Bool
    /// What was refused, and why: reported once.
    var reported = Reported()
    /// Names that say of drops that they are not done, and are none.
    var siblings = UntakenNames()
    /// Why drops in `ready` fail without being complete.
    var rejected: [DropPath: Failure] = [:]
    var examiner: Examiner
    /// Examinations of folders that are under way.
    var longLooks = LongLooks()
    /// Drops that took longer than one slice.
    var longDrops: Set<DropPath> = []
    /// Where these are proved once they are claimed.
    var proofs: Proofs
    /// What is being examined, for the next run; nil if it cannot be noted.
    var note: LookNote?
    /// Drops and jobs that earlier runs may have crashed on.
    var quarantine: Quarantine
    /// Claimed drops among them.
    var heldJobs: [Job] = []
    var heldOpen = HeldOpen<LookNote.Subject>()
    /// Markers that have been alone for too long, to be failed or reported.
    var overdueMarkers: [DropPath] = []
    let digests: DigestCheck.Reading
    let formats: FormatCheck.Reading
    /// Why nothing is claimed.
    private(set) var paused: Failure? { didSet { noteObstacle() } }
    /// That a person wants nothing to be claimed, whatever else is the matter.
    private(set) var held: HoldRecord? { didSet { noteObstacle() } }
    /// That it is outside the pipeline's hours.
    private(set) var outside: OutsideHours? { didSet { noteObstacle() } }
    /// Whether a job runs alone that the daemon may have died of.
    private(set) var isYielding = false { didSet { noteObstacle() } }
    private(set) var isRunning = false
    /// Until the engine stops: from then on drops stay in the inbox.
    var isClaiming = true
    var hasScanned: Bool { scanned != nil }
    /// When watching began.
    var watching: MonotonicTime?
    /// When the inbox was first seen whole.
    var scanned: MonotonicTime?
    private var isTurnAsked = false
    /// When the last turn was made, and when the next one will be.
    private var lastTurn: MonotonicTime?
    /// Whether that one came after a rest.
    private var isFirstTurn = false
    private var wakes: MonotonicTime?
    /// When untouched refused drops were last examined.
    var lastLookAtRefused = MonotonicTime(nanoseconds: 0)
    var reportedWaiting = -1
    private lazy var alarm = Alarm(on: executor.queue, leeway: .milliseconds(1)) { @Sendable [weak self] in
        self?.assumeIsolated { $0.turn() }
    }

    /// How long after a turn the next one is made, where nothing is left over.
    private static let spacing = Duration.milliseconds(3)
    /// After so long without a turn the first two follow each other at once: a lone file is made and closed, and stands
    /// still from when both were seen.
    private static let rest = Duration.milliseconds(100)

    /// How long to wait when the inbox or the work folder cannot be used.
    static let troubledPause = Duration.seconds(1)

    init(
        spool: Spool, events: any FolderEvents, ids: JobIDGenerator, once: Bool, judge: FormatJudge? = nil,
        slots: StageSlots = StageSlots(), node: NodeStanding = NodeStanding(),
        deliver: @escaping @Sendable (Message) -> Void
    ) {
        self.spool = spool
        lane = QuickLane(of: spool, slots)
        let outputs = spool.pipeline.allStages.flatMap { $0.targets.values.map(\.fixedFolder) }
        space = FreeSpace(of: spool.folders + outputs, floor: spool.pipeline.minFree)
        self.ids = ids
        self.deliver = deliver
        self.node = node
        lead = once ? nil : node.lead(of: spool.pipeline)
        isOnce = once
        executor = QueueExecutor(label: "dropmill.\(spool.pipeline.name).inbox")
        self.events = events
        proofs = Proofs(of: spool.pipeline.name)
        let rule = spool.pipeline.ready.holding(seenBy: spool.sight)
        gate = ReadyGate(
            rule: rule,
            usualLack: { @Sendable [marker = rule.marker] path in
                marker?.name(for: path.name).map { .marker($0, .missing) }
            })
        lateWriters = LateWriters(rule: rule)
        copying = Copying(of: spool.pipeline.name)
        digests = DigestCheck.reading(of: spool.pipeline.name, in: spool.pipeline.inbox, for: executor.queue)
        formats = FormatCheck.reading(
            of: spool.pipeline.name, in: spool.pipeline.inbox, limits: rule.limits, by: judge, for: executor.queue)
        examiner = Examiner(of: spool, digests, formats)
        ready = ReadyQueue(of: spool.pipeline)
        quarantine = Quarantine(limit: Recovery.limit(of: spool.pipeline))
        claimOrder = ClaimOrder(spool.pipeline.order)
        limit = ClaimLimit(spool.pipeline.limit)
        room = ActiveRoom(
            jobs: spool.pipeline.activeJobs, bytes: spool.pipeline.activeBytes, ofEach: spool.pipeline.fair?.active)
    }

    // MARK: From the engine, on any queue

    /// Takes in jobs that an earlier run left and the journal does not know, and those that the last intake left; then
    /// watches the inbox.
    nonisolated func start(adopting found: [Job], leftBefore left: [Job] = []) {
        enqueue { intake in
            intake.isRunning = true
            intake.openNote()
            let isHeld = { (job: Job) in intake.quarantine.isHeld(.job(job.slot)) }
            intake.heldJobs = (found + left).filter(isHeld)
            intake.adopt(found.filter { !isHeld($0) })
            intake.adopt(left.filter { !isHeld($0) }, ofEarlierRun: false)
            if intake.spool.isTail {
                intake.spool.noteReserved()
                intake.scanned = .now()
                intake.forgetGone()
            } else {
                if let lead = intake.lead { intake.follow(lead) } else { intake.startWatching() }
            }
            intake.turn()
        }
    }

    /// Takes in jobs that another node has left, known by their folders alone.
    nonisolated func takeIn(_ found: [Job]) {
        guard !found.isEmpty else { return }
        enqueue { intake in
            intake.adopt(found)
            intake.turnSoon()
        }
    }

    /// Ends watching and claiming; `done` is called on the queue when nothing is open any more.
    nonisolated func stop(done: @escaping @Sendable () -> Void) {
        enqueue { intake in
            intake.end()
            done()
        }
    }

    func end() {
        isRunning = false
        watcher?.assumeIsolated { $0.stop() }
        watcher = nil
        digests.stop()
        formats.stop()
        copying.stop()
        proofs.stop()
        lane?.stop()
        longLooks = LongLooks()
        alarm.set(nil)
    }

    /// Claims nothing more: the engine is stopping. What was claimed is still proved, and watching continues.
    nonisolated func stopClaiming() {
        lane?.close()
        enqueue { intake in intake.isClaiming = false }
    }

    /// These jobs have finished: others may be claimed.
    nonisolated func release(_ jobs: [Job]) {
        enqueue { intake in
            for job in jobs { intake.giveBack(job) }
            intake.turnSoon()
        }
    }

    /// These jobs that were claimed before take up room.
    nonisolated func reserve(_ jobs: [Job]) { enqueue { intake in jobs.forEach { intake.reserve($0) } } }

    /// Claims nothing more until `resume`; watching continues.
    nonisolated func pause(because failure: Failure) { enqueue { intake in intake.paused = failure } }

    nonisolated func resume() {
        enqueue { intake in
            intake.paused = nil
            intake.spool.noteReserved()
            intake.turn()
        }
    }

    /// Claims nothing as long as a person holds the pipeline; `done` is called on the queue when that is in force.
    nonisolated func hold(_ hold: HoldRecord?, done: @escaping @Sendable () -> Void = {}) {
        enqueue { intake in
            intake.held = hold
            if intake.isRunning { intake.turnSoon() }
            done()
        }
    }

    /// Claims nothing as long as it is outside the pipeline's hours.
    nonisolated func close(_ outside: OutsideHours?) {
        enqueue { intake in
            intake.outside = outside
            if intake.isRunning { intake.turnSoon() }
        }
    }

    /// Claims nothing as long as a job runs alone.
    nonisolated func yield(_ isYielding: Bool) {
        enqueue { intake in
            intake.isYielding = isYielding
            if intake.isRunning { intake.turnSoon() }
        }
    }

    /// Checks whether claiming is possible, and reports `recovered` or `failed`.
    nonisolated func probe() {
        enqueue { intake in
            do throws(Failure) {
                try intake.checkAll()
                intake.deliver(.recovered)
            } catch {
                intake.deliver(.failed(error))
            }
        }
    }

    private func checkAll() throws(Failure) {
        try checkInbox()
        try space.check()
        guard !spool.isTail else { return }
        do throws(IOError) { _ = try OpenInbox(spool.pipeline.inbox) } catch { throw Failure(error) }
    }

    /// Throws while the inbox or work folder is unavailable. A removed work folder is recreated.
    func checkInbox() throws(Failure) {
        guard node.mayAct() else { throw .journalAway }
        do throws(Failure) {
            try spool.checkInbox()
        } catch {
            guard error.code == "work.gone" else { throw error }
            let isRemade: Bool
            do throws(FolderError) {
                isRemade = try spool.work.remake(for: spool.pipeline)
            } catch let trouble {
                throw Failure(
                    .environment, code: error.code, summary: "\(trouble.message).", remedy: error.remedySentence)
            }
            guard isRemade else { throw error }
            spool.noteReserved()
            deliver(.workRemade)
        }
    }

    // MARK: Turns

    /// Schedules a turn after the current messages; not sooner than `spacing` after the last one, so that of a burst
    /// many drops go on together: each turn that claims some wakes all queues behind this one.
    func turnSoon() {
        guard !isTurnAsked else { return }
        let next = lastTurn.map { $0 + Self.spacing } ?? .now()
        guard next > .now(), ready.count < QuickLane.most, !isFirstTurn else { return goOn() }
        if wakes.map({ next < $0 }) ?? true { wake(at: next) }
    }

    /// Schedules a turn after the current messages.
    private func goOn() {
        guard !isTurnAsked else { return }
        isTurnAsked = true
        enqueue { intake in intake.turn() }
    }

    /// Samples what is due, claims what is ready, and sets the timer for the next time.
    private func turn() {
        isTurnAsked = false
        guard isRunning else { return }
        let begun = MonotonicTime.now()
        isFirstTurn = lastTurn.map { begun - $0 > Self.rest } ?? true
        lastTurn = begun
        wakes = nil
        defer { note?.end() }
        do throws(Failure) {
            try checkInbox()
            do throws(IOError) {
                try adoptDoubted()
                if !spool.isTail {
                    let inbox = try OpenInbox(spool.pipeline.inbox)
                    try sample(inbox)
                    try rejectMarkers(in: inbox)
                    try claim(inbox)
                }
                try checkLateWriters()
                try admitQuarantined()
            } catch {
                throw Failure(error)
            }
        } catch {
            fail(error)
            // What is due stays due; without a pause this would spin until the problem is solved.
            return alarm.set(.now() + Self.troubledPause)
        }
        if let means = spool.sight.news() { deliver(.sight(means)) }
        let now = MonotonicTime.now()
        let rest = ready.isEmpty ? nil : restEnds
        let slack = limit.flatMap { limit in ready.first().map { limit.opens(for: $0.fingerprint.size, at: now) } }
            .flatMap { $0 > now ? $0 : nil }
        if let slack, isOnce { tell(ofLimit: slack - now, at: now) }
        let quarantined = quarantine.held.isEmpty ? nil : now + Self.troubledPause
        let looks = [gate.nextDue, lateWriters.gate.nextDue, examiner.nextDue, nextCeded]
        let due = (looks + [rest, quarantined, slack]).compactMap { $0 }.min()
        if !longLooks.isEmpty || due.map({ $0 <= now }) ?? false {
            goOn()
        } else {
            if mayClaim { goOn() } else { wake(at: due.map { max($0, now + Self.spacing) }) }
            reportIfIdle()
        }
    }

    /// Whether the next of those that are ready may be claimed now.
    var mayClaim: Bool {
        guard isClaiming, paused == nil, !isHeldBack, !isYielding, restEnds == nil, let next = ready.first() else {
            return false
        }
        guard room.has(next.fingerprint.size), isDue(next.fingerprint.size) else { return false }
        return node.mayAct() && lane(for: next).map { $0.accepts(ready.count) } ?? true
    }

    /// Whether a person, or the time of day, wants nothing to be claimed.
    var isHeldBack: Bool { held != nil || outside != nil }

    /// When claims may be proved again; nil: at once. Waiting ones share the next process scan.
    private var restEnds: MonotonicTime? {
        let end = spool.sight.restEnds
        return end > .now() ? end : nil
    }

    func report(_ path: DropPath, _ reason: String) {
        if reported.add(path, reason) { deliver(.refused(path, reason: reason)) }
    }

    func forgetReport(_ path: DropPath) { reported.forget(path) }

    func fail(_ failure: Failure) {
        guard isRunning, paused == nil else { return }
        paused = failure
        deliver(.failed(failure))
    }

    /// Sets the time of the next turn; nil: none until one is asked for.
    private func wake(at time: MonotonicTime?) {
        wakes = time
        alarm.set(time)
    }
}
