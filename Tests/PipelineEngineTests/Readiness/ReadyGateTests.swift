import Files
import PipelineKit
import Testing

@testable import FolderWatch
@testable import Readiness

/// One look at a candidate in a story, or something that happened to it.
private enum Step: Sendable {
    /// At so many milliseconds an event touched it.
    case touched(Int)
    /// At so many milliseconds its state was so; every sample that is due by then has been taken with the state before.
    case becomes(Int, Sample)
    /// At so many milliseconds it vanished, and an event said so.
    case forgotten(Int)
}

/// A story: what the file is, what happens, and when (if ever) it must be found ready.
private struct Story: Sendable, CustomTestStringConvertible {
    let name: String
    var rule = ReadyRule(quiet: .seconds(1))
    let start: Sample
    let steps: [Step]
    /// Milliseconds at which it is to be ready; nil: not within the minute.
    let ready: Int?
    var testDescription: String { name }
}

private func file(
    size: Int64 = 100, mtime: Int = 1, ctime: Int = 1, inode: UInt64 = 7, _ writers: OpenWriters = .none
) -> Sample {
    .file(
        Fingerprint(
            device: 1, inode: inode, size: size, modified: FileTime(seconds: mtime), changed: FileTime(seconds: ctime)),
        writers)
}

private let stories: [Story] = [
    Story(name: "stands still from the start", start: file(), steps: [], ready: 1000),
    Story(
        name: "grows four times without an event", start: file(size: 1),
        steps: [.becomes(900, file(size: 2)), .becomes(1800, file(size: 3)), .becomes(2700, file(size: 4))], ready: 4000
    ),
    Story(
        name: "grows, each time with an event", start: file(size: 1),
        steps: [
            .becomes(700, file(size: 2)), .touched(700), .becomes(1400, file(size: 3)), .touched(1400),
        ], ready: 2400),
    Story(
        name: "same size, new mtime", start: file(mtime: 1), steps: [.becomes(500, file(mtime: 2))], ready: 2000),
    Story(
        name: "same size and mtime, new ctime: a copier set the time back", start: file(ctime: 1),
        steps: [.becomes(500, file(ctime: 2))], ready: 2000),
    Story(
        name: "replaced by another inode", start: file(inode: 7), steps: [.becomes(999, file(inode: 8))], ready: 2000),
    Story(
        name: "truncated", start: file(size: 100), steps: [.becomes(600, file(size: 50)), .touched(600)], ready: 1600),
    Story(name: "an event without a visible change", start: file(), steps: [.touched(600)], ready: 1600),
    Story(name: "vanished before its second sample", start: file(), steps: [.becomes(500, .gone)], ready: nil),
    Story(name: "vanished, and an event said so", start: file(), steps: [.forgotten(500)], ready: nil),
    Story(
        name: "renamed over while it waited", start: file(inode: 7),
        steps: [.becomes(400, file(size: 5, mtime: 9, ctime: 9, inode: 9)), .touched(400)], ready: 1400),
    Story(name: "zero bytes stand still five times as long", start: file(size: 0), steps: [], ready: 5000),
    Story(
        name: "zero bytes, then filled", start: file(size: 0), steps: [.becomes(3000, file(size: 9)), .touched(3000)],
        ready: 4000),
    Story(
        name: "mtime far in the future", start: file(mtime: .max), steps: [], ready: 1000),
    Story(
        name: "held open for writing, then closed", start: file(.some(.unknown)),
        steps: [.becomes(3500, file()), .touched(3500)],
        ready: 4500),
    Story(
        name: "held open for writing, closed without an event", start: file(.some(.unknown)),
        steps: [.becomes(3500, file())],
        ready: 4000),
    Story(
        name: "held open for writing, but nobody asks", rule: ReadyRule(quiet: .seconds(1), writers: .ignore),
        start: file(.some(.unknown)), steps: [], ready: 1000),
    Story(name: "nobody can tell about writers", start: file(.unknown), steps: [], ready: 1000),
    Story(name: "a symbolic link", start: .refused("a symbolic link"), steps: [], ready: nil),
    Story(
        name: "a symbolic link, replaced by a file", start: .refused("a symbolic link"),
        steps: [.becomes(700, file()), .touched(700)], ready: 1700),
    Story(
        name: "ignored while empty, taken when filled", rule: ReadyRule(quiet: .seconds(1), empty: .ignore),
        start: file(size: 0), steps: [.becomes(9000, file(size: 4)), .touched(9000)], ready: 10000),
    Story(
        name: "ignored while empty", rule: ReadyRule(quiet: .seconds(1), empty: .ignore), start: file(size: 0),
        steps: [],
        ready: nil),
]

@Suite("ReadyGate") struct ReadyGateTests {
    private static func milliseconds(_ count: Int) -> MonotonicTime {
        MonotonicTime(nanoseconds: Int64(count) * 1_000_000)
    }

    /// Plays a story on a clock of its own, sampling exactly when the gate asks for it.
    @Test("A story ends when it must", arguments: stories)
    private func plays(_ story: Story) {
        var gate = ReadyGate(rule: story.rule)
        var state = story.start
        var steps = story.steps[...]
        gate.touch("f", at: Self.milliseconds(0))
        var ready: Int?
        for now in 0...60_000 where ready == nil {
            while let step = steps.first {
                switch step {
                case .touched(let at) where at <= now: gate.touch("f", at: Self.milliseconds(now))
                case .becomes(let at, let sample) where at <= now: state = sample
                case .forgotten(let at) where at <= now: gate.forget("f")
                default: break
                }
                if case .touched(let at) = step, at > now { break }
                if case .becomes(let at, _) = step, at > now { break }
                if case .forgotten(let at) = step, at > now { break }
                steps.removeFirst()
            }
            for request in gate.due(at: Self.milliseconds(now)) {
                var sample = state
                if !request.deciding, case .file(let fingerprint, _) = state { sample = .file(fingerprint, .notAsked) }
                if case .ready = gate.record(sample, of: "f", at: Self.milliseconds(now)) { ready = now }
            }
        }
        // Samples of a touched candidate are up to the shortest pause late.
        if let expected = story.ready {
            #expect(
                ready.map { expected...(expected + 10) ~= $0 } ?? false,
                "ready at \(String(describing: ready)), not \(expected)")
        } else {
            #expect(ready == nil)
        }
    }

    @Test("A clock that steps back makes nothing ready early, and nothing is lost")
    func clockStepsBack() {
        var gate = ReadyGate(rule: ReadyRule(quiet: .seconds(1)))
        gate.touch("f", at: Self.milliseconds(100_000))
        #expect(gate.due(at: Self.milliseconds(100_000)).map(\.key) == ["f"])
        #expect(gate.record(file(), of: "f", at: Self.milliseconds(100_000)) == .waiting(.quiet))
        #expect(gate.due(at: Self.milliseconds(50_000)).isEmpty)
        gate.touch("f", at: Self.milliseconds(50_000))
        #expect(gate.due(at: Self.milliseconds(50_005)).map(\.key) == ["f"])
        #expect(gate.record(file(), of: "f", at: Self.milliseconds(50_005)) == .waiting(.changing))
        #expect(gate.due(at: Self.milliseconds(51_004)).isEmpty)
        #expect(gate.due(at: Self.milliseconds(51_005)) == [.init(key: "f", deciding: true)])
        guard case .ready = gate.record(file(), of: "f", at: Self.milliseconds(51_005)) else {
            Issue.record("not ready after a whole quiet time")
            return
        }
    }

    @Test("A writer that never stops costs one sample a pause, not one an event")
    func samplesAreFew() {
        var gate = ReadyGate(rule: ReadyRule(quiet: .seconds(1)))
        var samples = 0
        for microsecond in stride(from: 0, to: 1_000_000, by: 100) {
            let now = MonotonicTime(nanoseconds: Int64(microsecond) * 1000)
            gate.touch("f", at: now)
            for _ in gate.due(at: now) {
                samples += 1
                _ = gate.record(file(size: Int64(microsecond), .notAsked), of: "f", at: now)
            }
        }
        #expect(100...270 ~= samples, "200 a second, and some more in the first tenth of it")
    }

    @Test("A file that is created, filled and closed in a moment does not wait for the pause of a long writer")
    func shortWriter() {
        var gate = ReadyGate(rule: ReadyRule(quiet: .seconds(1)))
        let start = Self.milliseconds(0)
        gate.touch("f", at: start)
        _ = gate.due(at: start)
        _ = gate.record(file(size: 0, .notAsked), of: "f", at: start)
        gate.touch("f", at: start + .microseconds(200))
        #expect(gate.nextDue == start + ReadyGate.firstPause)
    }

    @Test("Only what is due is asked for, in the order it is due, and as many as wanted")
    func dueInOrder() {
        var gate = ReadyGate(rule: ReadyRule(quiet: .seconds(1)))
        for key in 0..<10 { gate.touch(DropPath(integerLiteral: key), at: Self.milliseconds(key * 10)) }
        #expect(gate.nextDue == Self.milliseconds(0))
        #expect(gate.due(at: Self.milliseconds(45)).map(\.key) == [0, 1, 2, 3, 4])
        #expect(gate.due(at: Self.milliseconds(95), limit: 2).map(\.key) == [5, 6])
        #expect(gate.nextDue == Self.milliseconds(70))
    }

    @Test("What is asked for without the right to decide is asked again before it is believed")
    func decidingSampleAsksForWriters() {
        var gate = ReadyGate(rule: ReadyRule(quiet: .seconds(1)))
        gate.touch("f", at: Self.milliseconds(0))
        _ = gate.due(at: Self.milliseconds(0))
        _ = gate.record(file(.notAsked), of: "f", at: Self.milliseconds(0))
        _ = gate.due(at: Self.milliseconds(1000))
        #expect(gate.record(file(.notAsked), of: "f", at: Self.milliseconds(1000)) == .waiting(.quiet))
        #expect(gate.due(at: Self.milliseconds(1000)) == [.init(key: "f", deciding: true)])
    }

    @Test("A folder that lacks something is looked at every 2 s, and less often where a look costs much")
    func dearLooks() throws {
        for (cost, pause) in [(10, 2000), (100, 2000), (500, 10_000)] {
            var gate = ReadyGate(rule: ReadyRule(quiet: .seconds(1), unit: .folder))
            gate.touch("f", at: Self.milliseconds(0))
            _ = gate.due(at: Self.milliseconds(0))
            _ = gate.record(file(.notAsked), of: "f", at: Self.milliseconds(0))
            _ = gate.due(at: Self.milliseconds(1000))
            let decision = gate.record(
                file(), of: "f", at: Self.milliseconds(1000), lacking: .manifest(.missing), cost: .milliseconds(cost))
            #expect(decision == .waiting(.lacking))
            #expect(gate.nextDue == Self.milliseconds(1000 + pause))
        }
    }

    @Test("What lacks something waits without a sample, and is ready at once when it has come")
    func lacks() throws {
        let marker = Waiting.marker(try #require(FileName("f.done")), .missing)
        var gate = ReadyGate(rule: ReadyRule(quiet: .seconds(1)))
        gate.touch("f", at: Self.milliseconds(0))
        _ = gate.due(at: Self.milliseconds(0))
        _ = gate.record(file(.notAsked), of: "f", at: Self.milliseconds(0))
        #expect(gate.due(at: Self.milliseconds(1000)) == [.init(key: "f", deciding: true)])
        #expect(gate.record(file(), of: "f", at: Self.milliseconds(1000), lacking: marker) == .waiting(.lacking))
        #expect(gate.waiting(for: "f", at: Self.milliseconds(1000)) == marker)
        #expect(gate.nextDue == nil && gate.waitingCount == 1)
        gate.recheck("f", at: Self.milliseconds(60_000))
        #expect(gate.due(at: Self.milliseconds(60_000)) == [.init(key: "f", deciding: true)])
        guard case .ready = gate.record(file(), of: "f", at: Self.milliseconds(60_000)) else {
            Issue.record("not ready at once")
            return
        }
    }

    @Test("What takes long to compare is not given up meanwhile, but if it differs then")
    func verifyingTakesItsTime() throws {
        let differs = Waiting.marker(try #require(FileName("f.done")), .digest(algorithm: "sha256"))
        var gate = ReadyGate(rule: ReadyRule(quiet: .seconds(1), timeout: .seconds(5)))
        gate.touch("f", at: Self.milliseconds(0))
        _ = gate.due(at: Self.milliseconds(0))
        _ = gate.record(file(.notAsked), of: "f", at: Self.milliseconds(0))
        _ = gate.due(at: Self.milliseconds(1000))
        #expect(gate.record(file(), of: "f", at: Self.milliseconds(1000), lacking: .verifying) == .waiting(.lacking))
        #expect(gate.nextDue == nil)
        gate.recheck("f", at: Self.milliseconds(9000))
        #expect(gate.due(at: Self.milliseconds(9000)).count == 1)
        #expect(gate.record(file(), of: "f", at: Self.milliseconds(9000), lacking: .verifying) == .waiting(.lacking))
        #expect(gate.nextDue == nil && gate.waiting(for: "f", at: Self.milliseconds(9000)) == .verifying)
        gate.recheck("f", at: Self.milliseconds(10_000))
        _ = gate.due(at: Self.milliseconds(10_000))
        let decision = gate.record(file(), of: "f", at: Self.milliseconds(10_000), lacking: differs)
        guard case .overdue(_, differs) = decision else {
            Issue.record("\(decision)")
            return
        }
    }

    @Test("A look again does not shorten the quiet time")
    func recheckKeepsTheWait() {
        var gate = ReadyGate(rule: ReadyRule(quiet: .seconds(1)))
        gate.touch("f", at: Self.milliseconds(0))
        _ = gate.due(at: Self.milliseconds(0))
        _ = gate.record(file(.notAsked), of: "f", at: Self.milliseconds(0))
        gate.recheck("f", at: Self.milliseconds(300))
        #expect(gate.due(at: Self.milliseconds(999)).isEmpty)
        #expect(gate.due(at: Self.milliseconds(1000)).count == 1)
    }

    /// States that never become ready, and what is told of each when its time is over.
    @Test(
        "What is not complete in time is given up with its reason",
        arguments: [
            (file(.some(.init(process: 7, program: "dd"))), "held open for writing by dd (pid 7)", 2500),
            (file(.unknown), "unchanged for 2.5 of 10 s, because open writers cannot be detected here", 2500),
            (file(size: 0), "empty, unchanged for 2.5 of 5 s", 2500),
        ] as [(Sample, String, Int)])
    private func overdue(_ sample: Sample, _ reason: String, _ expected: Int) {
        var rule = ReadyRule(quiet: .seconds(1), timeout: .milliseconds(2500))
        rule.blindQuiet = .seconds(10)
        var gate = ReadyGate(rule: rule)
        gate.touch("f", at: Self.milliseconds(0))
        for now in 0...10_000 {
            for _ in gate.due(at: Self.milliseconds(now)) {
                guard case .overdue(_, let waiting) = gate.record(sample, of: "f", at: Self.milliseconds(now)) else {
                    continue
                }
                #expect(waiting.text == reason)
                #expect(now == expected)
                #expect(!gate.contains("f"))
                return
            }
        }
        Issue.record("never given up")
    }

    @Test("One that grows all the time says how fast, and is given up in time too")
    func growing() {
        var gate = ReadyGate(rule: ReadyRule(quiet: .seconds(1), timeout: .seconds(3)))
        for now in stride(from: 0, through: 4000, by: 10) {
            let time = Self.milliseconds(now)
            if gate.contains("f") || now == 0 { gate.touch("f", at: time) }
            for _ in gate.due(at: time) {
                let decision = gate.record(file(size: 1 + Int64(now) * 3100, .notAsked), of: "f", at: time)
                if now == 2000 {
                    #expect(
                        gate.waiting(for: "f", at: time + .milliseconds(200))?.text
                            == "growing: 3.1 MB/s, quiet for 0.2 of 1 s")
                }
                if case .overdue = decision {
                    #expect(now == 3000)
                    return
                }
            }
        }
        Issue.record("never given up")
    }

    @Test("Writers write in bursts: how fast one grows is the mean of some time")
    func bursts() {
        var gate = ReadyGate(rule: ReadyRule(quiet: .seconds(1)))
        var size: Int64 = 1
        // 100 kB within 10 ms, four times a second.
        for now in stride(from: 0, through: 5000, by: 1) {
            if now % 250 < 10 { size += 10_000 }
            let time = Self.milliseconds(now)
            if now % 250 < 10 { gate.touch("f", at: time) }
            for _ in gate.due(at: time) { _ = gate.record(file(size: size, .notAsked), of: "f", at: time) }
        }
        guard case .growing(let rate, _, _)? = gate.waiting(for: "f", at: Self.milliseconds(5000)) else {
            Issue.record("it does not grow")
            return
        }
        #expect((300_000...500_000).contains(rate), "\(rate)")
    }

    @Test("It knows who is being written")
    func disturbed() {
        var gate = ReadyGate(rule: ReadyRule(quiet: .seconds(1)))
        for key in ["still", "growing"] as [DropPath] { gate.touch(key, at: Self.milliseconds(0)) }
        for request in gate.due(at: Self.milliseconds(0)) {
            _ = gate.record(file(.notAsked), of: request.key, at: Self.milliseconds(0))
        }
        gate.touch("growing", at: Self.milliseconds(500))
        for request in gate.due(at: Self.milliseconds(505)) {
            _ = gate.record(file(size: 200, .notAsked), of: request.key, at: Self.milliseconds(505))
        }
        let disturbed = Dictionary(uniqueKeysWithValues: gate.waiting.map { ($0.key, $0.isDisturbed) })
        #expect(disturbed == ["still": false, "growing": true])
    }
}

@Suite("AbsenceDetector") struct AbsenceDetectorTests {
    private typealias Clocks = AbsenceDetector.Clocks

    /// Seconds that each clock goes on between two pulses of 5 s, and whether that is an absence.
    @Test(arguments: [
        (5.0, 5.0, 5.0, false),
        (6.5, 6.5, 6.5, false),
        (5.0, 3605.0, 3605.0, true),
        (60.0, 60.0, 60.0, true),
        (5.0, 5.0, 86405.0, true),
        (5.0, 5.0, -86395.0, true),
    ])
    func gaps(monotonic: Double, boot: Double, wall: Double, expected: Bool) {
        let start = Clocks(monotonic: 1_000_000_000, boot: 50_000_000_000, wall: 1_700_000_000_000_000_000)
        var detector = AbsenceDetector(pulse: .seconds(5), starting: start)
        let later = Clocks(
            monotonic: start.monotonic + Int64(monotonic * 1e9), boot: start.boot + Int64(boot * 1e9),
            wall: start.wall + Int64(wall * 1e9))
        let wasAway = detector.wasAway(later)
        #expect(wasAway == expected)
        let pulse: Int64 = 5_000_000_000
        let next = Clocks(monotonic: later.monotonic + pulse, boot: later.boot + pulse, wall: later.wall + pulse)
        let isAwayStill = detector.wasAway(next)
        #expect(!isAwayStill, "an absence is told once")
    }
}

@Suite("What the gate tells of those that wait") struct ReadyGateTellingTests {
    private let start = MonotonicTime(nanoseconds: 1_000_000_000)

    private func at(_ milliseconds: Int) -> MonotonicTime { start + .milliseconds(milliseconds) }

    @Test("Those that are known for longest come first, and only so many")
    func order() {
        var gate = ReadyGate(rule: ReadyRule(quiet: .seconds(1)))
        for (time, name) in [(30, "c"), (10, "a"), (40, "d"), (20, "b"), (5, "refused")] as [(Int, DropPath)] {
            gate.touch(name, at: at(time))
        }
        gate.refuse("refused", because: "a link", at: at(50))
        #expect(gate.longest(3) == ["a", "b", "c"])
        #expect(gate.longest(9) == ["a", "b", "c", "d"])
        #expect(gate.longest(0) == [])
        #expect(gate.admitted("a") == at(10))
        #expect(gate.admitted("b") == at(20))
    }
}
