import Files
import PipelineKit

/// The state of a pipeline and of each of its jobs. Pure: events go in, effects come out, and the
/// runner carries these out in order. Nothing else decides a job's state.
struct JobMachine: Sendable, Equatable {
    /// What a machine needs to know about its pipeline.
    struct Rules: Sendable, Equatable {
        var retry: [RetryPolicy]
        /// How many stages `on_failure` has.
        var notifications = 0
        /// From this many recoveries on, a job's settlement is counted before it begins.
        var quarantineAfter = Int.max

        var stages: Int { retry.count }
    }

    enum Holder: Sendable, Equatable {
        /// No one: it continues after the pause or, if the engine stops, at the next start.
        case nobody
        /// The engine, until no other suspect job runs.
        case quarantine
        case timer
        case workers
        /// The check whether the drop of a failed job exists.
        case look
        /// The workers of a stage of `on_failure`.
        case notifier(isBegun: Bool)
        /// The journal, which must record a settlement that may crash the daemon before it begins.
        case journal
        case settler

        /// Whether an effect is in progress that will end with an event.
        var isBusy: Bool {
            switch self {
            case .workers, .look, .notifier, .journal, .settler: true
            case .nobody, .quarantine, .timer: false
            }
        }

        var isNotifier: Bool { if case .notifier = self { true } else { false } }
    }

    /// What is known about a job.
    struct Entry: Sendable, Equatable {
        /// Its state, as recorded.
        var state: JobState
        var holder = Holder.nobody
        /// How often a start found it unfinished after the daemon had died.
        var recoveries: Int
        /// Whether `recoveries` counts the end that is under way.
        var isCounted = false
        /// Whether a stage has run in this process: where that might crash the daemon it was on record before.
        var hasRun = false
        /// Whether it must run alone.
        var isQuarantined = false
        /// Whether it may run now where others must wait.
        var isAdmitted = false
        /// Whether intents may be on record, though the commit was said to have failed: then it is written down before
        /// a stage runs that it runs again.
        var mayBeIntended = false
        /// Whether intents are on record: then it rolls forward, and failures are no longer reported.
        var isIntended = false
        /// How many stages of `on_failure` are done.
        var notified = 0
        /// Why its stage, which a worker has, was called off: it fails whatever the stage makes of it.
        var calledOff: Failure?

        /// Its state, as it is to be recorded: what was called off stays so over a crash.
        var onRecord: JobState { calledOff.map { .settling(.failed($0)) } ?? state }
    }

    enum Event: Sendable, Equatable {
        /// A job was claimed or found again. `isQuarantined`: the daemon may have died of it; `rest`: how much longer a
        /// deferred one waits.
        case entered(
            JobID, JobState, recoveries: Int = 0, isIntended: Bool = false, isQuarantined: Bool = false,
            rest: Duration = .zero)
        /// Nothing else runs that may kill the daemon.
        case admitted(JobID)
        case began(JobID)
        /// Its stage succeeded, or is not for this drop. `isDone`: no further stage is needed; `hasRun`: it was run.
        case succeeded(JobID, isDone: Bool = false, hasRun: Bool = true)
        /// Its stage failed. `hasRun`: the stage was begun. `jitter`: chance, from 0 to 1.
        case failed(JobID, Failure, hasRun: Bool = true, jitter: Double = 0)
        case due(JobID)
        /// The check has ended. `isThere`: whether its drop exists.
        case looked(JobID, isThere: Bool)
        /// A stage of `on_failure` ended, or is not for this drop; whether it failed changes nothing.
        case notified(JobID)
        /// A stage of `on_failure` was called off.
        case notificationCancelled(JobID)
        /// The count of its settlement is on disk, or could not be written.
        case counted(JobID, Failure? = nil)
        case settled(JobID)
        /// The settlement failed. `isIntended`: intents are on record.
        case unsettled(JobID, Failure, isIntended: Bool = false)
        /// The outputs could not be brought to the disk: they must be made again, since what the kernel could not write
        /// it may have dropped.
        case outputsLost(JobID, Failure)
        case lost(JobID)
        /// Another node has taken it over.
        case fenced(JobID)
        /// A person calls it off. A job in settlement goes on.
        case calledOff(JobID, Failure)
        /// A person puts it first, or last, of those that are held.
        case bumped(JobID, last: Bool)
        /// These were withdrawn before a worker had them.
        case withdrawn([JobID])
        /// The intake has failed, or still fails.
        case intakeFailed(Failure)
        case intakeRecovered
        case claimed
        case probe
        /// The probe's check has ended. `isInPlace`: whether the jobs' folders are reachable.
        case probed(isInPlace: Bool)
        /// The trial that began then has succeeded.
        case trialEnded(since: MonotonicTime)
        /// The machine whose place this one takes paused so.
        case followed(Pause)
        /// Whether a person has paused the pipeline: no stage may begin.
        case held(Bool)
        /// Whether only what is admitted may go on: the daemon may have died of it, and is to die of nothing else.
        case yielding(Bool)
        /// Nothing more may begin.
        case stopped
        /// Nothing more may begin here: another machine takes over, as `handOver` gives it.
        case retired
        /// A job of another machine; `rest`: how much longer a deferred one waits.
        case takenOver(JobID, Entry, rest: Duration = .zero)
    }

    enum Effect: Sendable, Equatable {
        /// Hand it to a worker. `isCommitted`: record first that it runs.
        case run(JobID, stage: Int, isCommitted: Bool)
        /// Record its state soon.
        case write(JobID)
        /// Check whether its drop exists; then `looked`.
        case look(JobID)
        /// Run a stage of `on_failure`; then `notified`.
        case notify(JobID, Failure, index: Int)
        /// Report that `on_failure` is left out for it.
        case skipNotification(JobID)
        /// Record now that its settlement begins; then `counted`.
        case count(JobID)
        case settle(JobID, JobState.Outcome)
        /// Record that it failed and waits; then `due` after the delay.
        case `defer`(JobID, Failure, Duration)
        /// Send `due` after a while.
        case wait(JobID, Duration)
        /// Withdraw it from its stage's workers, then `withdrawn`; or call off the one that has it.
        case callOff(JobID)
        /// It is finished. `recoveries`: the count that the record keeps.
        case release(JobID, JobState.Outcome, recoveries: Int)
        /// It is lost: its drop cannot be found.
        case forget(JobID)
        /// It is another node's: call off the worker that has it, and touch and record nothing of it.
        case drop(JobID)
        /// Send `admitted` when it may run alone.
        case quarantine(JobID)
        /// Withdraw what no worker has started; then `withdrawn`.
        case withdraw
        /// Claim nothing, for this reason. `isNews`: report it.
        case pause(Failure, isNews: Bool)
        case resume
        /// The pause is over, after so long.
        case recovered(after: Duration)
        /// Send `probe` after a while.
        case probe(after: Duration)
        /// Check whether the jobs' folders are reachable; then `probed`.
        case checkFolders
        /// Have the intake try; then `intakeRecovered` or `intakeFailed`.
        case askIntake
        /// Send `trialEnded` after a while.
        case trial(Duration, since: MonotonicTime)
        /// Report an event that is impossible in the job's state: a bug.
        case unexpected(Event)
    }

    let rules: Rules
    var jobs: [JobID: Entry] = [:]
    /// Jobs that no one holds, in the order in which they continue.
    var held: [JobID] = []
    /// What its surroundings make necessary.
    var pause = Pause()
    /// Whether a person has paused the pipeline, which the end of no trouble lifts.
    var isHeld = false
    /// Whether only what is admitted may go on.
    var isYielding = false
    var isStopping = false
    /// Whether another machine takes over: this one keeps what is under way, until it is over.
    var isRetired = false

    init(_ rules: Rules) { self.rules = rules }

    /// Whether only timers can bring further events.
    var isQuiet: Bool { !jobs.values.contains { $0.holder.isBusy } }

    /// The number of jobs with an event pending.
    var busyCount: Int { jobs.values.count { $0.holder.isBusy } }

    /// Whether an event of the job is pending.
    func isBusy(_ id: JobID) -> Bool { jobs[id]?.holder.isBusy ?? false }

    /// Whether workers have the job, and none has begun with it as far as is known.
    func isWithdrawable(_ id: JobID) -> Bool {
        guard let entry = jobs[id] else { return false }
        switch (entry.holder, entry.state) {
        case (.workers, .queued), (.notifier(isBegun: false), _): return true
        default: return false
        }
    }

    /// Applies events in order, at a time that never goes back.
    mutating func apply(_ events: some Sequence<Event>, at now: MonotonicTime) -> [Effect] {
        var turn = Turn(now: now)
        for event in events { apply(event, &turn) }
        return turn.effects
    }
}
