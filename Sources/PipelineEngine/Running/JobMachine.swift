import PipelineKit

/// Where every job of a pipeline is, and whether the pipeline is paused. Pure: events go in, effects come out, and the
/// runner performs these in order. Nothing else says where a job is.
struct JobMachine: Sendable, Equatable {
    /// What a machine has to know of its pipeline.
    struct Rules: Sendable, Equatable {
        var retry: [RetryPolicy]
        /// How many stages `on_failure` has.
        var notifications = 0
        /// From so many recoveries on a job's settlement is counted before it begins.
        var quarantineAfter = Int.max

        var stages: Int { retry.count }
    }

    enum Holder: Sendable, Equatable {
        /// Nobody: it continues after the pause or, where the engine stops, at the next start.
        case nobody
        /// The engine, until nothing else runs that may have killed the daemon.
        case quarantine
        case timer
        case workers
        /// Whoever looks whether the drop of a failed job is there.
        case look
        /// The workers of a stage of `on_failure`.
        case notifier(isBegun: Bool)
        /// The journal, which is to know of a settlement that may kill the daemon before it begins.
        case journal
        case settler

        /// Whether an event is to come from whoever performs an effect.
        var isBusy: Bool {
            switch self {
            case .workers, .look, .notifier, .journal, .settler: true
            case .nobody, .quarantine, .timer: false
            }
        }

        var isNotifier: Bool { if case .notifier = self { true } else { false } }
    }

    /// A job, and what is remembered of it.
    struct Entry: Sendable, Equatable {
        /// How far it is, as it is written down.
        var state: JobState
        var holder = Holder.nobody
        /// How often a start found it unfinished after the daemon had died.
        var recoveries: Int
        /// Whether `recoveries` counts the end that is under way.
        var isCounted = false
        /// Whether a stage has run in this process: where that might crash the daemon it was on record before.
        var hasRun = false
        /// Whether it is to run alone when it begins.
        var isQuarantined = false
        /// Whether intents may be on record, though the commit was said to have failed: then it is written down before
        /// a stage runs that it runs again.
        var mayBeIntended = false
        /// Whether intents are: then it is on its way, and no failure is reported any more.
        var isIntended = false
        /// How many stages of `on_failure` are done.
        var notified = 0
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
        /// It was looked at. `isThere`: whether its drop is.
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
        /// These were taken back before a worker had them.
        case withdrawn([JobID])
        /// The intake cannot go on, or still cannot.
        case intakeFailed(Failure)
        case intakeRecovered
        case claimed
        case probe
        /// What a probe needs was looked at. `isInPlace`: whether jobs find their folders.
        case probed(isInPlace: Bool)
        /// A trial that began then has lasted.
        case trialEnded(since: MonotonicTime)
        /// Nothing more is to begin.
        case stopped
    }

    enum Effect: Sendable, Equatable {
        /// Hand it to a worker. `isCommitted`: it is written down first that it runs.
        case run(JobID, stage: Int, isCommitted: Bool)
        /// Write its state down, soon.
        case write(JobID)
        /// Look whether its drop is there; then `looked`.
        case look(JobID)
        /// Run a stage of `on_failure`; then `notified`.
        case notify(JobID, Failure, index: Int)
        /// Write down now that its settlement begins; then `counted`.
        case count(JobID)
        case settle(JobID, JobState.Outcome)
        /// Write down that it failed and waits; then `due` after the delay.
        case `defer`(JobID, Failure, Duration)
        /// Send `due` after a while.
        case wait(JobID, Duration)
        /// It is over. `recoveries`: those that the record is to keep.
        case release(JobID, JobState.Outcome, recoveries: Int)
        /// It is lost: its drop cannot be found.
        case forget(JobID)
        /// Send `admitted` when it may run alone.
        case quarantine(JobID)
        /// Take back what no worker has begun; then `withdrawn`.
        case withdraw
        /// Claim nothing, for this reason. `isNews`: it is to be reported.
        case pause(Failure, isNews: Bool)
        case resume
        /// The pause is over, after so long.
        case recovered(after: Duration)
        /// Send `probe` after a while.
        case probe(after: Duration)
        /// See whether jobs find their folders; then `probed`.
        case checkFolders
        /// Have the intake try; then `intakeRecovered` or `intakeFailed`.
        case askIntake
        /// Send `trialEnded` after a while.
        case trial(Duration, since: MonotonicTime)
        /// Report what cannot happen to a job where it is: a bug.
        case unexpected(Event)
    }

    let rules: Rules
    var jobs: [JobID: Entry] = [:]
    /// Those that nobody has, in the order in which they go on.
    var held: [JobID] = []
    var pause = Pause()
    var isStopping = false

    init(_ rules: Rules) { self.rules = rules }

    /// Whether nothing is to come but from timers.
    var isQuiet: Bool { !jobs.values.contains { $0.holder.isBusy } }

    /// Of how many jobs an event is to come.
    var busyCount: Int { jobs.values.count { $0.holder.isBusy } }

    /// Whether an event is to come of the job.
    func isBusy(_ id: JobID) -> Bool { jobs[id]?.holder.isBusy ?? false }

    /// Whether workers have the job, and none has begun with it as far as is known.
    func isWithdrawable(_ id: JobID) -> Bool {
        guard let entry = jobs[id] else { return false }
        switch (entry.holder, entry.state) {
        case (.workers, .queued), (.notifier(isBegun: false), _): return true
        default: return false
        }
    }

    /// Takes events in, in order, at a point of time that does not go back.
    mutating func apply(_ events: some Sequence<Event>, at now: MonotonicTime) -> [Effect] {
        var turn = Turn(now: now)
        for event in events { apply(event, &turn) }
        return turn.effects
    }
}
