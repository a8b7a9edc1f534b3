import Files
import PipelineKit

/// Whether the pipeline is paused, and how it detects that the problem is solved.
extension JobMachine {
    struct Pause: Sendable, Equatable {
        fileprivate(set) var reason: Failure?
        /// Since when this problem exists.
        fileprivate(set) var since = MonotonicTime(nanoseconds: 0)
        /// The last problem, and when it ended.
        fileprivate var last: Failure?
        fileprivate var ended = MonotonicTime(nanoseconds: 0)
        /// It continues on trial; recovery is confirmed only when something is claimed, or nothing fails for
        /// a while.
        fileprivate(set) var isOnTrial = false
        /// The wait before the next probe; doubles from probe to probe.
        fileprivate(set) var delay = Pause.firstDelay
        /// The job that serves as the probe.
        fileprivate(set) var probing: JobID?
        /// Whether the intake has the problem, so that no job can probe it.
        fileprivate var isIntakes = false
        fileprivate var isAskingIntake = false

        var isPaused: Bool { reason != nil && !isOnTrial }
        /// Whether several probes have failed.
        var isStubborn: Bool { delay > .seconds(4) }

        static let trial = Duration.seconds(2)
        static let firstDelay = Duration.seconds(1)
        static let longestDelay = Duration.seconds(60)
    }

    mutating func applyToPause(_ event: Event, _ turn: inout Turn) {
        switch event {
        case .intakeFailed(let failure):
            guard pause.isPaused else {
                stopWorking(because: failure, of: nil, &turn)
                pause.isIntakes = true
                return
            }
            guard pause.isAskingIntake else { return }
            pause.isAskingIntake = false
            waitLonger(&turn)
        case .intakeRecovered:
            if pause.isIntakes || pause.isAskingIntake { goOn(&turn) }
        case .claimed: endTrial(&turn)
        case .trialEnded(let since):
            if pause.since == since { endTrial(&turn) }
        case .probe:
            guard mayProbe else { return }
            // Without a job to probe with, or while the intake fails, the intake probes.
            if pause.isIntakes || held.isEmpty { askIntake(&turn) } else { turn.effects.append(.checkFolders) }
        case .probed(let isInPlace):
            guard mayProbe else { return }
            guard !isHeld, !isYielding else { return askIntake(&turn) }
            // What is to run alone may have to wait for another pipeline's.
            let next = held.firstIndex { jobs[$0]?.isQuarantined == false } ?? held.indices.first
            guard isInPlace, !pause.isIntakes, let next else { return askIntake(&turn) }
            let id = held.remove(at: next)
            pause.probing = id
            begin(id, &turn)
        case .followed(let before):
            // A reload may have solved the problem; if it returns at once it is the same one.
            guard let trouble = before.reason ?? before.last, pause.reason == nil else { return }
            (pause.last, pause.since, pause.delay) = (trouble, before.since, before.delay)
            pause.ended = before.reason == nil ? before.ended : turn.now
        case .stopped: isStopping = true
        default: break
        }
    }

    /// A person pauses the pipeline, or lifts that.
    mutating func setHeld(_ isHeld: Bool, _ turn: inout Turn) {
        guard isHeld != self.isHeld else { return }
        self.isHeld = isHeld
        if isHeld { turn.effects.append(.withdraw) } else { goOnWithHeld(&turn) }
    }

    /// All but what is admitted waits, or goes on.
    mutating func yield(_ isYielding: Bool, _ turn: inout Turn) {
        guard isYielding != self.isYielding else { return }
        self.isYielding = isYielding
        if isYielding { turn.effects.append(.withdraw) } else { goOnWithHeld(&turn) }
    }

    /// Whether a stage may begin for a job, as far as people and suspects are concerned.
    func mayBegin(_ entry: Entry) -> Bool { !isHeld && (!isYielding || entry.isAdmitted) }

    /// Holds a job that may not begin yet; something else is to probe.
    mutating func holdBack(_ id: JobID, _ turn: inout Turn) {
        giveUpProbe(id, &turn)
        hold(id, &turn)
    }

    /// Has a job that is held go on first, or last, of all that are.
    mutating func bump(_ id: JobID, last isLast: Bool) {
        guard let place = held.firstIndex(of: id) else { return }
        held.remove(at: place)
        held.insert(id, at: isLast ? held.endIndex : held.startIndex)
    }

    /// This job shows nothing after all; another one probes, later.
    mutating func giveUpProbe(_ id: JobID, _ turn: inout Turn) {
        guard pause.probing == id else { return }
        pause.probing = nil
        waitLonger(&turn)
    }

    private mutating func goOnWithHeld(_ turn: inout Turn) {
        let waiting = held
        held = []
        for id in waiting { begin(id, &turn) }
    }

    private var mayProbe: Bool { pause.isPaused && pause.probing == nil && !isStopping }

    private mutating func askIntake(_ turn: inout Turn) {
        guard !pause.isAskingIntake else { return }
        pause.isAskingIntake = true
        turn.effects.append(.askIntake)
    }

    private mutating func waitLonger(_ turn: inout Turn) {
        pause.delay = min(pause.delay * 2, Pause.longestDelay)
        turn.effects.append(.probe(after: pause.delay))
    }

    /// Pauses the pipeline, or after a failed probe waits longer.
    mutating func stopWorking(because failure: Failure, of id: JobID?, _ turn: inout Turn) {
        if pause.isPaused {
            turn.effects.append(.pause(failure, isNews: false))
            // Others that were running fail for the same reason; only the probe's failure says something new.
            guard let id, pause.probing == id else { return }
            pause.probing = nil
            return waitLonger(&turn)
        }
        // A problem that returns at once is the same problem. The next job may succeed where this one fails.
        let isNews = !pause.isOnTrial || pause.reason?.code != failure.code
        let isRelapse = pause.isOnTrial || turn.now - pause.ended < pause.delay * 2
        let isSame = isRelapse && (pause.reason ?? pause.last)?.code == failure.code
        pause.delay = isRelapse ? min(pause.delay * 2, Pause.longestDelay) : Pause.firstDelay
        pause.reason = failure
        pause.isOnTrial = false
        if !isSame { pause.since = turn.now }
        turn.effects += [.pause(failure, isNews: isNews), .withdraw, .probe(after: pause.delay)]
    }

    /// A probe that succeeds shows that the problem is solved.
    mutating func endProbe(_ id: JobID, _ turn: inout Turn) {
        if pause.probing == id { goOn(&turn) }
    }

    /// The problem seems solved: everything that was held continues.
    private mutating func goOn(_ turn: inout Turn) {
        guard pause.isPaused else { return }
        // The intake's check may not cover what had failed.
        pause.isOnTrial = pause.probing == nil
        pause.probing = nil
        pause.isIntakes = false
        pause.isAskingIntake = false
        if pause.isOnTrial {
            turn.effects.append(.trial(Pause.trial, since: pause.since))
        } else {
            recover(&turn)
        }
        goOnWithHeld(&turn)
        turn.effects.append(.resume)
    }

    private mutating func endTrial(_ turn: inout Turn) {
        guard pause.isOnTrial else { return }
        pause.isOnTrial = false
        recover(&turn)
    }

    private mutating func recover(_ turn: inout Turn) {
        turn.effects.append(.recovered(after: turn.now - pause.since))
        (pause.last, pause.reason) = (pause.reason, nil)
        pause.ended = turn.now
    }
}
