import Files
import PipelineKit
import TestSupport

@testable import FolderWatch
@testable import PipelineEngine
@testable import Readiness

/// Performs what a machine says, as surroundings that chance decides about would, and sees whether it is sound.
struct JobMachineWorld {
    /// What is bound to happen, in an order that chance decides about.
    enum Pending: Equatable {
        case begin(JobID), finish(JobID), look(JobID), notify(JobID), endNotification(JobID), count(JobID), settle(
            JobID, JobState.Outcome)
        case due(JobID), probe(Duration), checkFolders, askIntake, trial(MonotonicTime)

        /// The job that is busy with it.
        var job: JobID? {
            switch self {
            case .begin(let id), .finish(let id), .look(let id), .notify(let id), .endNotification(let id),
                .count(let id),
                .settle(let id, _):
                id
            case .due, .probe, .checkFolders, .askIntake, .trial: nil
            }
        }
    }

    /// What outlives the daemon of a job.
    struct Record: Equatable {
        var state: JobState
        var recoveries: Int
        var isIntended = false
    }

    let rules: JobMachine.Rules
    let limit: Int
    let ids = JobIDGenerator()
    var random: SeededGenerator
    var machine: JobMachine
    var now = MonotonicTime(nanoseconds: 0)
    var pending: [Pending] = []
    var quarantine: [JobID] = []
    var admitted: JobID?
    var records: [JobID: Record] = [:]
    /// Transient failures of the stage that each job is at.
    var failures: [JobID: Int] = [:]
    /// How often the daemon died while it was at work on each job.
    var strikes: [JobID: Int] = [:]
    var entered = 0
    /// Jobs whose folders are there.
    var folders: Set<JobID> = []
    var ended: Set<JobID> = []
    /// Those that another node has.
    var taken: Set<JobID> = []
    /// Whether the surroundings are in disorder.
    var isTroubled = false
    var isClaiming = true
    /// Whether all but what is admitted waits.
    var isYielding = false
    /// How a machine paused that had trouble.
    var earlier = JobMachine.Pause()
    var crashes = 0
    /// What happened and was not given to the machine yet: a batch.
    var waiting: [JobMachine.Event] = []
    var problems: [String] = []
    /// Whether an effect is not performed: what a world must find.
    let isLeftOut: @Sendable (JobMachine.Effect) -> Bool

    /// A world of a seed. `limit`: after so many recoveries a job fails.
    init(
        seed: UInt64, limit: Int = 3,
        leavingOut isLeftOut: @escaping @Sendable (JobMachine.Effect) -> Bool = { _ in false }
    ) {
        self.isLeftOut = isLeftOut
        random = SeededGenerator(seed: seed)
        let stages = Int(random.next() % 4)
        rules = JobMachine.Rules(
            retry: (0..<stages).map { _ in RetryPolicy(attempts: 3, backoff: .seconds(1)) },
            notifications: Int(random.next() % 3), quarantineAfter: 2)
        self.limit = limit
        machine = JobMachine(rules)
    }

    /// Lets all that chance has in store happen, then lets the surroundings be well, and everything end.
    mutating func run(jobs: Int, steps: Int) {
        happen(jobs: jobs, steps: steps)
        isTroubled = false
        yield(false)
        var left = 10_000
        while left > 0, happen() { left -= 1 }
        if left == 0 { problems.append("it does not come to an end") }
        for (id, entry) in machine.jobs { problems.append("\(id) is left, \(entry)") }
        if machine.pause.reason != nil { problems.append("it is in trouble for ever") }
        if ended.count != entered { problems.append("\(entered) jobs, \(ended.count) ends") }
    }

    /// Lets some of what chance has in store happen.
    mutating func happen(jobs: Int, steps: Int) {
        for _ in 0..<steps {
            switch random.next() % 40 {
            case 0..<6 where entered < jobs: enter()
            case 6: isTroubled.toggle()
            case 7 where random.next() % 4 == 0: send([.intakeFailed(failure(.environment)), .intakeRecovered])
            case 7: send([.intakeFailed(failure(.environment))])
            case 8 where random.next() % 4 == 0: lose()
            case 9 where random.next() % 4 == 0: crash()
            case 10 where random.next() % 4 == 0: fence()
            case 10: callOff()
            case 11: bump()
            case 12: yield(!isYielding)
            case 13 where machine.pause.reason == nil: send([.followed(earlier)])
            case 13: earlier = machine.pause
            default: happen()
            }
        }
    }

    /// Nothing more begins, and what has begun ends.
    mutating func stop() {
        send([.stopped])
        flush()
        var left = 10_000
        while left > 0, happen() { left -= 1 }
        for (id, entry) in machine.jobs {
            if entry.holder.isBusy { problems.append("\(id) is left by a stop: \(entry)") }
        }
    }

    // MARK: What happens

    mutating func enter() {
        entered += 1
        let id = ids.next()
        folders.insert(id)
        let state: JobState =
            random.next() % 10 == 0 ? .settling(.failed(failure(.file))) : .queued(stage: 0, failures: 0)
        send([.claimed, .entered(id, state)])
    }

    mutating func yield(_ isYielding: Bool) {
        self.isYielding = isYielding
        send([.yielding(isYielding)])
    }

    mutating func lose() {
        guard let id = machine.jobs.keys.sorted().first else { return }
        folders.remove(id)
        pending.removeAll { $0.job == id || $0 == .due(id) }
        send([.lost(id)])
    }

    /// Another node takes one over, whatever is done with it here. Answers that are late may still be heard.
    mutating func fence() {
        let ids = machine.jobs.keys.sorted()
        guard !ids.isEmpty else { return }
        let id = ids[Int(random.next() % UInt64(ids.count))]
        taken.insert(id)
        send([.fenced(id)])
    }

    mutating func callOff() {
        let ids = machine.jobs.keys.sorted()
        guard !ids.isEmpty else { return }
        let id = ids[Int(random.next() % UInt64(ids.count))]
        let mayBe = waiting.isEmpty && machine.mayCallOff(id)
        // Late ones change nothing, also in one batch with what made them late.
        send([.calledOff(id, Self.off)])
        if mayBe, waiting.isEmpty, machine.jobs[id].map({ $0.onRecord != .settling(.failed(Self.off)) }) ?? false {
            problems.append("\(id) was called off in vain")
        }
    }

    mutating func bump() {
        let ids = machine.jobs.keys.sorted()
        guard !ids.isEmpty else { return }
        let id = ids[Int(random.next() % UInt64(ids.count))]
        let isLast = random.next() % 2 == 0
        let isHeld = waiting.isEmpty && machine.held.contains(id)
        send([.bumped(id, last: isLast)])
        if isHeld, waiting.isEmpty, (isLast ? machine.held.last : machine.held.first) != id {
            problems.append("\(id) was bumped in vain")
        }
    }

    static let off = Failure.file("test.off", "It was called off.")

    /// The daemon dies and starts again: what it knew is gone but for the records.
    mutating func crash() {
        crashes += 1
        for next in pending {
            switch next {
            case .finish(let id), .endNotification(let id), .settle(let id, _): strikes[id, default: 0] += 1
            default: break
            }
        }
        for (id, count) in strikes where count > limit + 1 { problems.append("\(id) had \(count) crashes") }
        pending = []
        waiting = []
        quarantine = []
        admitted = nil
        isTroubled = false
        isClaiming = true
        isYielding = false
        // A start ends what has no folder as lost.
        for id in records.keys where !folders.contains(id) { ended.insert(id) }
        records = records.filter { folders.contains($0.key) }
        let events = folders.sorted().compactMap { recovered($0) }
        machine = JobMachine(rules)
        var twin = machine
        let twins = twin.apply(events, at: now)
        waiting = events
        flush(expecting: twins)
        if twin != machine { problems.append("two machines from the same records differ") }
    }

    mutating func recovered(_ id: JobID) -> JobMachine.Event? {
        guard var record = records[id] else {
            // Nothing of it is on record: it begins again.
            failures[id] = 0
            return .entered(id, .queued(stage: 0, failures: 0), recoveries: 1, isQuarantined: limit <= 2)
        }
        if case .running = record.state {
            record.recoveries += 1
        } else {
            record.recoveries = max(1, record.recoveries)
        }
        records[id] = record
        if record.recoveries > limit + 1 { problems.append("\(id) was recovered \(record.recoveries) times") }
        let isQuarantined = record.recoveries >= min(2, limit - 1)
        var rest = Duration.zero
        switch record.state {
        case .settling where record.recoveries >= limit:
            // Part of it may be made: a start leaves it as it is.
            records[id] = nil
            folders.remove(id)
            ended.insert(id)
            return nil
        case .queued(let stage, let known), .running(let stage, let known):
            failures[id] = known
            record.state = .queued(stage: stage, failures: known)
            if record.recoveries >= limit { record.state = .settling(.failed(failure(.file))) }
        case .deferred(_, let known, _):
            failures[id] = known
            rest = .seconds(1)
        case .settling: break
        }
        return .entered(
            id, record.state, recoveries: record.recoveries, isIntended: record.isIntended,
            isQuarantined: isQuarantined,
            rest: rest)
    }

    /// One thing that is bound to happen does; false where there is nothing.
    @discardableResult
    mutating func happen() -> Bool {
        if admitted.map({ machine.isBusy($0) }) != true, let next = quarantine.first {
            quarantine.removeFirst()
            admitted = next
            send([.admitted(next)])
            flush()
            return true
        }
        guard !pending.isEmpty else {
            defer { flush() }
            return !waiting.isEmpty
        }
        let next = pending.remove(at: Int(random.next() % UInt64(pending.count)))
        switch next {
        case .begin(let id):
            if machine.jobs[id]?.calledOff != nil { problems.append("\(id) begins, though it was called off") }
            pending.append(.finish(id))
            // Most are done before somebody looks.
            if random.next() % 2 == 0 { send([.began(id)]) }
        case .finish(let id): finish(id)
        case .look(let id): send([.looked(id, isThere: random.next() % 4 > 0)])
        case .notify(let id):
            pending.append(.endNotification(id))
            if random.next() % 2 == 0 { send([.began(id)]) }
        case .endNotification(let id):
            send([machine.isStopping && random.next() % 2 == 0 ? .notificationCancelled(id) : .notified(id)])
        case .count(let id): send([.counted(id, isTroubled ? failure(.environment) : nil)])
        case .settle(let id, let outcome): settle(id, outcome)
        case .due(let id): send([.due(id)])
        case .probe(let delay):
            now = now + delay
            send([.probe])
        case .checkFolders: send([.probed(isInPlace: !isTroubled || random.next() % 2 == 0)])
        case .askIntake: send([isTroubled ? .intakeFailed(failure(.environment)) : .intakeRecovered])
        case .trial(let since):
            now = now + JobMachine.Pause.trial
            send([.trialEnded(since: since)])
        }
        return true
    }

    mutating func finish(_ id: JobID) {
        if isTroubled, random.next() % 3 > 0 { return send([.failed(id, failure(.environment))]) }
        switch random.next() % 20 {
        case 0: send([.failed(id, failure(.file))])
        case 1..<6:
            failures[id, default: 0] += 1
            if failures[id, default: 0] > 3 { problems.append("\(id) was tried too often") }
            send([.failed(id, failure(.transient))])
        case 6: send([.succeeded(id, isDone: true)])
        case 7 where machine.isStopping: send([.failed(id, failure(.cancelled))])
        default:
            failures[id] = 0
            send([.succeeded(id)])
        }
    }

    mutating func settle(_ id: JobID, _ outcome: JobState.Outcome) {
        if isTroubled, random.next() % 3 > 0 {
            let isIntended = random.next() % 2 == 0
            records[id]?.isIntended = isIntended
            return send([.unsettled(id, failure(.environment), isIntended: isIntended)])
        }
        switch random.next() % 12 {
        case 0 where outcome == .processed: send([.unsettled(id, failure(.file))])
        case 1 where outcome == .processed:
            failures[id] = 0
            records[id]?.isIntended = false
            send([.outputsLost(id, failure(.environment))])
        default: send([.settled(id)])
        }
    }

    func failure(_ kind: Failure.Class) -> Failure {
        Failure(kind, code: "test.\(kind.rawValue)", summary: "It failed.", remedy: "")
    }
}
