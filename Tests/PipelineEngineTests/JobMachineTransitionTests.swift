import Files
import PipelineKit
import Testing

@testable import PipelineEngine

@Suite("Job machine, step by step") struct JobMachineTransitionTests {
    private static let bad = Failure.file("bad", "It is bad.")
    private static let later = Failure(.transient, code: "later", summary: "Not now.")
    private static let full = Failure(.environment, code: "full", summary: "The disk is full.")
    private static let off = Failure.cancelled
    private static let now = MonotonicTime(nanoseconds: 1_000_000_000_000)
    private static let id = JobIDGenerator().next()
    private static let retry = RetryPolicy(attempts: 3, backoff: .seconds(1), maxBackoff: .milliseconds(1500))

    /// A machine of two stages with one job, which is to begin.
    private func machine(_ state: JobState, stages: Int = 2, recoveries: Int = 0) -> JobMachine {
        var machine = JobMachine(.init(retry: Array(repeating: Self.retry, count: stages)))
        _ = machine.apply([.entered(Self.id, state, recoveries: recoveries)], at: Self.now)
        return machine
    }

    @Test("Trouble that comes back at once is as old under the machine that follows, and tried as seldom")
    func followed() {
        func paused(_ machine: inout JobMachine, at time: MonotonicTime) {
            _ = machine.apply([.failed(Self.id, Self.full)], at: time)
        }
        var old = machine(.queued(stage: 0, failures: 0))
        paused(&old, at: Self.now)
        for (wait, isSame) in [(Duration.milliseconds(500), true), (.seconds(60), false)] {
            var between = machine(.queued(stage: 0, failures: 0))
            _ = between.apply([.followed(old.pause)], at: Self.now + .seconds(9))
            var new = machine(.queued(stage: 0, failures: 0))
            _ = new.apply([.followed(between.pause)], at: Self.now + .seconds(9))
            #expect(!new.pause.isPaused, "a reload may have ended it")
            let again = Self.now + .seconds(9) + wait
            paused(&new, at: again)
            #expect(new.pause.since == (isSame ? Self.now : again))
            #expect(new.pause.delay == (isSame ? .seconds(2) : .seconds(1)))
        }
        var other = machine(.queued(stage: 0, failures: 0))
        _ = other.apply([.followed(JobMachine.Pause())], at: Self.now)
        paused(&other, at: Self.now + .seconds(1))
        #expect(other.pause.since == Self.now + .seconds(1))
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let state: JobState
        let event: JobMachine.Event
        let next: JobState?
        let effects: [JobMachine.Effect]
        var testDescription: String { "\(state) + \(event)" }

        init(
            _ state: JobState, _ event: JobMachine.Event, _ next: JobState?, _ effects: [JobMachine.Effect]
        ) { (self.state, self.event, self.next, self.effects) = (state, event, next, effects) }
    }

    private static func run(_ stage: Int) -> [JobMachine.Effect] {
        [.write(id), .run(id, stage: stage, isCommitted: false)]
    }

    private static func paused(_ failure: Failure) -> [JobMachine.Effect] {
        [.write(id), .pause(failure, isNews: true), .withdraw, .probe(after: .seconds(1))]
    }

    /// Every transition there is of what is at work.
    private static let rows: [Row] = [
        Row(.queued(stage: 0, failures: 0), .began(id), .running(stage: 0, failures: 0), [.write(id)]),
        Row(.queued(stage: 0, failures: 0), .succeeded(id), .queued(stage: 1, failures: 0), run(1)),
        Row(.queued(stage: 0, failures: 2), .succeeded(id), .queued(stage: 1, failures: 0), run(1)),
        Row(.queued(stage: 1, failures: 1), .succeeded(id), .settling(.processed), [.settle(id, .processed)]),
        Row(
            .queued(stage: 0, failures: 0), .succeeded(id, isDone: true), .settling(.processed),
            [.settle(id, .processed)]),
        Row(
            .queued(stage: 0, failures: 0), .failed(id, bad), .settling(.failed(bad)), [.settle(id, .failed(bad))]),
        Row(
            .queued(stage: 0, failures: 0), .failed(id, later), .deferred(stage: 0, failures: 1, later),
            [.defer(id, later, .seconds(1))]),
        Row(
            .queued(stage: 1, failures: 1), .failed(id, later), .deferred(stage: 1, failures: 2, later),
            [.defer(id, later, .milliseconds(1500))]),
        Row(
            .queued(stage: 0, failures: 2), .failed(id, later), .settling(.failed(later)),
            [.settle(id, .failed(later))]),
        Row(.queued(stage: 0, failures: 2), .failed(id, full), .queued(stage: 0, failures: 2), paused(full)),
        Row(.queued(stage: 1, failures: 1), .failed(id, off), .queued(stage: 1, failures: 1), [.write(id)]),
        Row(.queued(stage: 1, failures: 1), .withdrawn([id]), .queued(stage: 1, failures: 1), run(1)),

        Row(
            .queued(stage: 1, failures: 1), .calledOff(id, bad), .queued(stage: 1, failures: 1),
            [.callOff(id), .write(id)]),
        Row(
            .deferred(stage: 1, failures: 2, later), .calledOff(id, bad), .settling(.failed(bad)),
            [.write(id), .settle(id, .failed(bad))]),
        Row(.settling(.processed), .calledOff(id, bad), .settling(.processed), []),

        Row(.queued(stage: 1, failures: 1), .fenced(id), nil, [.drop(id)]),
        Row(.deferred(stage: 1, failures: 2, later), .fenced(id), nil, [.drop(id)]),
        Row(.settling(.processed), .fenced(id), nil, [.drop(id)]),
        Row(.settling(.failed(bad)), .fenced(id), nil, [.drop(id)]),
        Row(.settling(.failed(later)), .calledOff(id, bad), .settling(.failed(later)), []),

        Row(.deferred(stage: 1, failures: 2, later), .due(id), .queued(stage: 1, failures: 2), run(1)),

        Row(.settling(.processed), .settled(id), nil, [.release(id, .processed, recoveries: 0)]),
        Row(.settling(.failed(bad)), .settled(id), nil, [.release(id, .failed(bad), recoveries: 0)]),
        Row(.settling(.processed), .unsettled(id, bad), .settling(.failed(bad)), [.settle(id, .failed(bad))]),
        Row(.settling(.processed), .unsettled(id, later), .settling(.processed), paused(later)),
        Row(.settling(.processed), .unsettled(id, full), .settling(.processed), paused(full)),
        Row(.settling(.processed), .unsettled(id, off), .settling(.processed), [.write(id)]),
        // One that cannot even be moved to failed has nowhere else to go.
        Row(.settling(.failed(later)), .unsettled(id, bad), .settling(.failed(later)), paused(bad)),
        Row(.settling(.failed(bad)), .unsettled(id, full), .settling(.failed(bad)), paused(full)),
        Row(.settling(.failed(bad)), .unsettled(id, off), .settling(.failed(bad)), [.write(id)]),

        Row(.settling(.processed), .outputsLost(id, full), .queued(stage: 0, failures: 0), paused(full)),
        Row(.settling(.failed(bad)), .outputsLost(id, full), .settling(.failed(bad)), paused(full)),
    ]

    @Test(arguments: rows)
    func follows(_ row: Row) {
        var machine = machine(row.state)
        #expect(machine.apply([row.event], at: Self.now) == row.effects)
        #expect(machine.jobs[Self.id]?.state == row.next)
    }

    @Test("What cannot happen to a job changes nothing")
    func nothingElseCanHappen() {
        let id = Self.id
        let states: [(JobState, Set<String>)] = [
            (.queued(stage: 0, failures: 0), ["began", "succeeded", "failed"]),
            (.deferred(stage: 0, failures: 1, Self.later), ["due"]),
            (.settling(.processed), ["settled", "unsettled", "outputsLost"]),
            (.settling(.failed(Self.bad)), ["settled", "unsettled", "outputsLost"]),
        ]
        let events: [(String, JobMachine.Event)] = [
            ("began", .began(id)), ("succeeded", .succeeded(id)), ("failed", .failed(id, Self.bad)), ("due", .due(id)),
            ("settled", .settled(id)), ("unsettled", .unsettled(id, Self.full)), ("admitted", .admitted(id)),
            ("outputsLost", .outputsLost(id, Self.full)), ("looked", .looked(id, isThere: true)),
            ("notified", .notified(id)), ("counted", .counted(id)),
        ]
        for (state, possible) in states {
            for (name, event) in events {
                let before = machine(state)
                var after = before
                let effects = after.apply([event], at: Self.now)
                let isPossible = after != before || !effects.isEmpty && effects != [.unexpected(event)]
                #expect(isPossible == possible.contains(name), "\(state) + \(event)")
            }
        }
    }

    @Test(
        "What was called off fails, whatever its stage made of it",
        arguments: [
            JobMachine.Event.succeeded(id), .failed(id, bad), .failed(id, later), .failed(id, full),
            .failed(id, off), .withdrawn([id]),
        ])
    func calledOff(_ event: JobMachine.Event) {
        let reason = Failure.calledOff(by: "anna")
        var machine = machine(.queued(stage: 0, failures: 0))
        _ = machine.apply([.calledOff(Self.id, reason)], at: Self.now)
        #expect(machine.jobs[Self.id]?.onRecord == .settling(.failed(reason)))
        #expect(machine.apply([event], at: Self.now) == [.settle(Self.id, .failed(reason))])
    }

    @Test("A job that is called off while it probes a pause proves nothing, unless its stage succeeded")
    func calledOffProbe() {
        for (event, isPaused) in [(JobMachine.Event.failed(Self.id, Self.full), true), (.succeeded(Self.id), false)] {
            var machine = machine(.queued(stage: 0, failures: 0))
            _ = machine.apply([.failed(Self.id, Self.full)], at: Self.now)
            _ = machine.apply([.probe], at: Self.now)
            _ = machine.apply([.probed(isInPlace: true)], at: Self.now)
            #expect(machine.pause.probing == Self.id)
            let reason = Failure.calledOff(by: "anna")
            _ = machine.apply([.calledOff(Self.id, reason)], at: Self.now)
            let effects = machine.apply([event], at: Self.now)
            #expect(machine.pause.isPaused == isPaused)
            #expect(machine.pause.probing == nil)
            #expect(machine.jobs[Self.id]?.state == .settling(.failed(reason)))
            #expect(effects.contains(.probe(after: .seconds(2))) == isPaused)
            #expect(effects.contains(.settle(Self.id, .failed(reason))) == !isPaused)
        }
    }

    @Test("It waits as long as the other side asks")
    func asked() {
        var busy = Self.later
        busy.retryAfter = .milliseconds(1200)
        var machine = machine(.queued(stage: 0, failures: 0))
        let effects = machine.apply([.failed(Self.id, busy)], at: Self.now)
        #expect(effects == [.defer(Self.id, busy, .milliseconds(1200))])
    }

    @Test("Without stages it settles at once; one that was recovered is on record before it runs")
    func begins() {
        #expect(machine(.queued(stage: 0, failures: 0), stages: 0).jobs[Self.id]?.state == .settling(.processed))
        var machine = JobMachine(.init(retry: [Self.retry]))
        let effects = machine.apply(
            [.entered(Self.id, .queued(stage: 0, failures: 0), recoveries: 1)], at: Self.now)
        #expect(effects == [.write(Self.id), .run(Self.id, stage: 0, isCommitted: true)])
    }
}
