import Files
import Journal
import PipelineKit
import SystemPackage

/// What the engine knows of a job that is claimed and not over, besides where it is.
struct ActiveJob {
    @CopyOnWrite private(set) var job: Job
    /// What is, or is about to be, written down of it.
    @CopyOnWrite var record: JobRecord
    /// What the drop looked like when it was proved, where it stays its sender's.
    private var seal: Seal?
    /// Since when it is at work in this process.
    let begun = MonotonicTime.now()
    /// Whether an earlier run began with it.
    private let isResumed: Bool
    /// What the drop is, where only its content was looked at: nothing else is in its folder.
    private var known: FileIdentity.Found?
    /// Durations of the stages run by this process, in order.
    private(set) var times: [JobReport.StageTime] = []
    /// The kind of the stage that ran last.
    private(set) var stage: String?
    /// The place of the stage that failed last, where it failed in this process.
    private(set) var failedPlace: Int?

    /// How long it counts that a drop was seen alone in its folder. A pause may take days.
    private static let freshness = Duration.seconds(2)

    init(_ job: Job, record: JobRecord, seal: Seal? = nil, isResumed: Bool = false, known: FileIdentity.Found? = nil) {
        self.job = job
        self.record = record
        self.seal = seal
        self.isResumed = isResumed
        self.known = known
    }

    var payload: Payload { record.payload ?? Payload(dropOf: job) }

    /// A stage succeeded; with what it had to say. `stage`: its place, where the job may have to go back to it;
    /// `addsToFolders`: what it does to its input where that is one.
    mutating func stageSucceeded(
        _ kind: String, at stage: Int? = nil, addsToFolders: Bool = false, in duration: Duration,
        giving payload: Payload, saying notes: String?
    ) {
        count(kind, duration)
        if let stage { record.keepInput(of: stage, isChanged: addsToFolders && self.payload.shape == .folder) }
        var kept = payload
        if payload.isDone {
            // What `copy` promised before stands; what else was made is not wanted any more.
            kept = Payload(dropOf: job)
            kept.copies = payload.copies
            kept.isDone = true
        }
        // Most drops pass most stages as they are; nothing is worth writing down then.
        record.payload = kept == Payload(dropOf: job) ? nil : kept
        if payload.isDrop, !payload.digests.isEmpty { record.digests = payload.digests }
        record.facts.merge(payload.facts) { _, new in new }
        record.failure = nil
        record.failedStage = nil
        endRun(of: kind)
        record.history.append(Transition("done", at: .now(), stage: kind, duration: duration, note: notes))
    }

    /// A worker began with it that long ago.
    mutating func begun(_ kind: String, _ ago: Duration) {
        let time = Timestamp(nanoseconds: Timestamp.now().nanoseconds - ago.nanoseconds)
        record.history.append(Transition(Transition.begun, at: time, stage: kind))
    }

    /// Takes back that a run has begun, since its end is about to say so. Whether it was there; a person may have
    /// called the job off meanwhile.
    @discardableResult
    private mutating func endRun(of kind: String) -> Bool {
        let place = record.history.lastIndex { $0.event != "cancelled" }
        guard let place, record.history[place].event == Transition.begun, record.history[place].stage == kind else {
            return false
        }
        record.history.remove(at: place)
        return true
    }

    /// Where it stands by its pipeline's machine.
    mutating func note(_ progress: JobState, stages: Int) {
        let wasDeferred = record.state == .deferred
        record.note(progress, stages: stages)
        if wasDeferred, record.state == .queued {
            record.history.append(Transition("queued", at: .now(), stage: record.failedStage))
        }
    }

    /// The pipeline was changed, or another one takes it over.
    mutating func goOn(under definition: Definition, of pipeline: String) {
        if pipeline != job.pipeline { job = job.passed(to: pipeline) }
        record.pass(to: pipeline, at: .now())
        record.goOn(under: definition, at: .now()) { _ in true }
    }

    mutating func skipped(_ kind: String, at stage: Int? = nil) {
        if let stage { record.keepInput(of: stage) }
        record.history.append(Transition("skipped", at: .now(), stage: kind, note: "its `when` does not hold"))
    }

    /// A stage of `on_failure` was run; whether it failed changes nothing but what is told.
    mutating func notified(by kind: String, in duration: Duration, _ failure: Failure?, saying notes: String?) {
        record.history.append(
            Transition(
                failure == nil ? "notified" : "could not notify", at: .now(), stage: kind, duration: duration,
                note: failure?.summary ?? notes))
    }

    mutating func failed(_ kind: String, at place: Int? = nil, in duration: Duration, because failure: Failure) {
        count(kind, duration)
        failedPlace = place
        let hasBegun = endRun(of: kind)
        guard failure.class != .cancelled else {
            if hasBegun { brokenOff(kind, in: duration) }
            return
        }
        // A pause may last for weeks, and each probe fails alike but for the figures in its summary.
        let isLikeBefore = failure.class == .environment && record.failure?.code == failure.code
        record.failure = failure
        record.failedStage = kind
        let last = record.history.indices.last
        if isLikeBefore, let last, record.history[last].event == "failed", record.history[last].stage == kind {
            record.history[last].repeats(at: .now())
        } else {
            record.history.append(
                Transition("failed", at: .now(), stage: kind, duration: duration, note: failure.summary))
        }
    }

    /// Its stage was called off, since the daemon ends or its pipeline changes.
    private mutating func brokenOff(_ kind: String, in duration: Duration) {
        let last = record.history.indices.last
        if let last, record.history[last].event == Transition.brokenOff, record.history[last].stage == kind {
            record.history[last].repeats(at: .now())
        } else {
            record.history.append(Transition(Transition.brokenOff, at: .now(), stage: kind, duration: duration))
        }
    }

    /// A person called it off.
    mutating func calledOff(by person: String) {
        record.calledOff(by: person, at: .now())
    }

    /// It waits for its next attempt. The stage that failed.
    mutating func wait(_ delay: Duration) -> String {
        record.nextAttempt = Timestamp(nanoseconds: Timestamp.now().nanoseconds + delay.nanoseconds)
        record.history.append(
            Transition("deferred", at: .now(), note: "attempt \(record.failures + 1) in \(delay.text)"))
        return stage ?? ""
    }

    /// Its settlement ended, in success or failure.
    mutating func settled(_ settlement: Settlement) {
        $record = settlement.$record
        seal = settlement.seal
        known = nil
    }

    private mutating func count(_ kind: String, _ duration: Duration) {
        stage = kind
        if let last = times.last, last.kind == kind {
            times[times.count - 1] = JobReport.StageTime(kind: kind, duration: last.duration + duration)
        } else {
            times.append(JobReport.StageTime(kind: kind, duration: duration))
        }
    }

    /// Runs of the stage that failed.
    private var attempts: Int { record.failedStage == nil ? record.failures : record.failures + 1 }

    /// The report for the stages of `on_failure`.
    func failed(because failure: Failure) -> JobFailure {
        JobFailure(failure, stage: record.failedStage, attempts: attempts)
    }

    func settlement(_ outcome: JobState.Outcome) -> Settlement {
        var report: FailureReport?
        if case .failed(let failure) = outcome, !failure.isRelease {
            report = FailureReport(failure, of: job, stage: record.failedStage, attempts: attempts, at: .now())
        }
        var settlement = Settlement(job: $job, record: $record, outcome: outcome, report: report, seal: seal)
        if !isResumed { settlement.begun = begun }
        if case .processed = outcome, .now() - begun < Self.freshness { settlement.known = known }
        return settlement
    }
    func report(_ outcome: JobState.Outcome) -> JobReport {
        JobReport(
            job: job, outcome: outcome, original: record.original, outputs: record.outputs,
            duration: .now() - begun, stages: times)
    }
}
