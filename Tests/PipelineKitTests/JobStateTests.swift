import PipelineKit
import Testing

@Suite struct JobStateTests {
    private static let bad = StageFailure.file("bad", "It is bad.")
    private static let later = StageFailure(.transient, code: "later", summary: "Not now.")
    private static let full = StageFailure(.environment, code: "full", summary: "The disk is full.")
    private static let off = StageFailure.cancelled
    /// Two stages, three attempts, 1 s doubling to 1.5 s.
    private static let rules = JobState.Rules(
        stages: 2, retry: RetryPolicy(attempts: 3, backoff: .seconds(1), maxBackoff: .milliseconds(1500)))

    struct Row: Sendable, CustomTestStringConvertible {
        var state: JobState
        var event: JobState.Event
        var next: JobState
        var action: JobState.Action
        var testDescription: String { "\(state) + \(event)" }

        init(_ state: JobState, _ event: JobState.Event, _ next: JobState, _ action: JobState.Action) {
            (self.state, self.event, self.next, self.action) = (state, event, next, action)
        }
    }

    /// Every transition there is.
    private static let rows: [Row] = [
        Row(.queued(stage: 0, failures: 0), .started, .running(stage: 0, failures: 0), .none),
        Row(.queued(stage: 1, failures: 2), .started, .running(stage: 1, failures: 2), .none),

        Row(.running(stage: 0, failures: 0), .succeeded, .queued(stage: 1, failures: 0), .run(stage: 1)),
        Row(.running(stage: 0, failures: 2), .succeeded, .queued(stage: 1, failures: 0), .run(stage: 1)),
        Row(.running(stage: 1, failures: 1), .succeeded, .settling(.processed), .settle(.processed)),

        Row(.running(stage: 0, failures: 0), .failed(bad), .settling(.failed(bad)), .settle(.failed(bad))),
        Row(
            .running(stage: 0, failures: 0), .failed(later), .deferred(stage: 0, failures: 1, later),
            .wait(.seconds(1))),
        Row(
            .running(stage: 1, failures: 1), .failed(later), .deferred(stage: 1, failures: 2, later),
            .wait(.milliseconds(1500))),
        Row(.running(stage: 0, failures: 2), .failed(later), .settling(.failed(later)), .settle(.failed(later))),
        Row(.running(stage: 0, failures: 2), .failed(full), .queued(stage: 0, failures: 2), .pause(full)),
        Row(.running(stage: 1, failures: 1), .failed(off), .queued(stage: 1, failures: 1), .park),

        Row(.deferred(stage: 1, failures: 2, later), .due, .queued(stage: 1, failures: 2), .run(stage: 1)),

        Row(.settling(.processed), .settled, .settled(.processed), .release),
        Row(.settling(.failed(bad)), .settled, .settled(.failed(bad)), .release),
        Row(.settling(.processed), .failed(bad), .settling(.failed(bad)), .settle(.failed(bad))),
        Row(.settling(.processed), .failed(later), .settling(.processed), .pause(later)),
        Row(.settling(.processed), .failed(full), .settling(.processed), .pause(full)),
        Row(.settling(.processed), .failed(off), .settling(.processed), .park),
        // One that cannot even be moved to failed has nowhere else to go.
        Row(.settling(.failed(later)), .failed(bad), .settling(.failed(later)), .pause(bad)),
        Row(.settling(.failed(bad)), .failed(later), .settling(.failed(bad)), .pause(later)),
        Row(.settling(.failed(bad)), .failed(full), .settling(.failed(bad)), .pause(full)),
        Row(.settling(.failed(bad)), .failed(off), .settling(.failed(bad)), .park),

        Row(.settling(.processed), .outputsLost(full), .queued(stage: 0, failures: 0), .pause(full)),
        Row(.settling(.failed(bad)), .outputsLost(full), .settling(.failed(bad)), .pause(full)),
    ]

    @Test(arguments: rows)
    func follows(_ row: Row) throws {
        let transition = try #require(row.state.next(row.event, Self.rules))
        #expect(transition.state == row.next)
        #expect(transition.action == row.action)
    }

    /// Every state meets every event: what the table does not allow cannot happen.
    @Test func nothingElseCanHappen() {
        let states: [JobState] = [
            .queued(stage: 0, failures: 0), .running(stage: 0, failures: 0),
            .deferred(stage: 0, failures: 1, Self.later),
            .settling(.processed), .settling(.failed(Self.bad)), .settled(.processed), .settled(.failed(Self.bad)),
        ]
        let events: [(JobState.Event, String)] = [
            (.started, "started"), (.succeeded, "succeeded"), (.due, "due"), (.settled, "settled"),
            (.failed(Self.bad), "failed"), (.failed(Self.later), "failed"), (.failed(Self.full), "failed"),
            (.failed(Self.off), "failed"), (.outputsLost(Self.full), "outputsLost"),
        ]
        for state in states {
            let possible: Set<String> =
                switch state {
                case .queued: ["started"]
                case .running: ["succeeded", "failed"]
                case .deferred: ["due"]
                case .settling: ["settled", "failed", "outputsLost"]
                case .settled: []
                }
            for (event, name) in events {
                #expect((state.next(event, Self.rules) != nil) == possible.contains(name), "\(state) + \(event)")
            }
        }
    }

    @Test func waitsAsLongAsTheOtherSideAsks() throws {
        var busy = Self.later
        busy.retryAfter = .milliseconds(1200)
        let running = JobState.running(stage: 0, failures: 0)
        let transition = try #require(running.next(.failed(busy), Self.rules))
        #expect(transition.state == .deferred(stage: 0, failures: 1, busy))
        #expect(transition.action == .wait(.milliseconds(1200)))
    }

    @Test func aClaimedJobBeginsWithItsFirstStage() {
        let (state, action) = JobState.claimed(Self.rules)
        #expect(state == .queued(stage: 0, failures: 0))
        #expect(action == .run(stage: 0))
    }

    @Test func withoutStagesItSettlesAtOnce() {
        let (state, action) = JobState.claimed(JobState.Rules(stages: 0))
        #expect(state == .settling(.processed))
        #expect(action == .settle(.processed))
    }
}

@Suite struct RetryPolicyTests {
    @Test(
        arguments: [
            (1, 2.0), (2, 4.0), (3, 8.0), (4, 10.0), (5, 10.0), (6, nil), (100, nil),
        ] as [(Int, Double?)])
    func doublesUpToItsLimit(_ failures: Int, _ seconds: Double?) {
        let policy = RetryPolicy(attempts: 6, backoff: .seconds(2), maxBackoff: .seconds(10))
        #expect(policy.delay(afterFailures: failures, jitter: 0)?.seconds == seconds)
    }

    /// No less than was asked for, no more than the longest wait.
    @Test(
        arguments: [
            (1, 0.0, 2.0), (3, 0.0, 3.0), (3, 1.0, 3.75), (9, 0.0, 9.0), (9, 1.0, 10.0), (11, 0.0, 10.0),
            (3_000_000_000, 1.0, 10.0),
        ] as [(Int64, Double, Double)])
    func waitsAsLongAsIsAsked(_ seconds: Int64, _ jitter: Double, _ wait: Double) {
        let policy = RetryPolicy(attempts: 2, backoff: .seconds(2), maxBackoff: .seconds(10))
        #expect(policy.delay(afterFailures: 1, jitter: jitter, asked: .seconds(seconds))?.seconds == wait)
        #expect(policy.delay(afterFailures: 2, jitter: jitter, asked: .seconds(seconds)) == nil)
    }

    @Test(arguments: [(0.0, 4.0), (0.5, 3.5), (1.0, 3.0), (7.0, 3.0), (-1.0, 4.0)])
    func jitterTakesUpToAQuarterOff(_ jitter: Double, _ seconds: Double) {
        let policy = RetryPolicy(attempts: 9, backoff: .seconds(4), maxBackoff: .seconds(10))
        #expect(policy.delay(afterFailures: 1, jitter: jitter)?.seconds == seconds)
    }

    @Test func oneAttemptIsNeverRepeated() {
        #expect(RetryPolicy(attempts: 1).delay(afterFailures: 1, jitter: 0) == nil)
    }

    @Test func manyFailuresDoNotOverflow() {
        let policy = RetryPolicy(attempts: .max, backoff: .seconds(86400), maxBackoff: .seconds(3_000_000_000))
        #expect(policy.delay(afterFailures: 5000, jitter: 0) == .seconds(3_000_000_000))
    }
}

@Suite struct StageFailureTests {
    @Test(
        arguments: [
            (IOError("write", "/out/a", .noSpace), .environment, "io.write"),
            (IOError("open", "/in/a", .permissionDenied), .environment, "io.open"),
            (IOError("create", "/out/a", .fileNameTooLong), .file, "io.create"),
            (IOError("create the folder", "/out/a", .fileNameTooLong), .file, "io.create-folder"),
            (IOError("set the mode of", "/out/a", .fileNameTooLong), .file, "io.set-mode"),
            (IOError("use as work folder", "/w", .noSpace), .environment, "io.use-work-folder"),
        ] as [(IOError, StageFailure.Class, String)])
    func classesSystemErrors(_ error: IOError, _ expected: StageFailure.Class, _ code: String) {
        let failure = StageFailure(error)
        #expect(failure.class == expected)
        #expect(failure.code == code)
        #expect(failure.summary.contains(error.path.string))
        #expect(!failure.remedy.isEmpty)
    }

    @Test("A drop that cannot be read fails alone; what a stage cannot write is the surroundings' fault")
    func classesSystemErrorsOfStages() {
        #expect(StageFailure(inStage: IOError("open", "/in/a", .permissionDenied)).class == .file)
        #expect(StageFailure(inStage: IOError("read", "/in/a", .noSuchFileOrDirectory)).class == .file)
        #expect(StageFailure(inStage: IOError("read", "/in/a", .ioError)).class == .environment)
        #expect(StageFailure(inStage: IOError("create", "/spool/a", .permissionDenied)).class == .environment)
    }
}
