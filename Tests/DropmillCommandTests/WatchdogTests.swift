import Files
import Synchronization
import TestSupport
import Testing

@testable import DropmillCommand

@Suite struct WatchdogTests {
    private func at(_ seconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }

    @Test func theManagerIsToldOnceAllHaveAnswered() {
        var rounds = WatchdogRounds()
        #expect(rounds.silence(at: at(99)) == nil)
        #expect(rounds.begin(at: at(100)) == true)
        #expect(rounds.answered(.journal) == false)
        #expect(rounds.answered(.signals) == false)
        #expect(rounds.answered(.journal) == false, "one that answers twice speaks for nobody else")
        #expect(rounds.answered(.engine) == true)
        #expect(rounds.answered(.engine) == false)
        #expect(rounds.silence(at: at(110)) == nil)
        #expect(rounds.begin(at: at(115)) == true)
    }

    @Test(arguments: WatchdogRounds.Part.allCases) func oneThatIsSilentKeepsItFromThat(part: WatchdogRounds.Part) {
        var rounds = WatchdogRounds()
        _ = rounds.begin(at: at(100))
        for other in WatchdogRounds.Part.allCases where other != part { #expect(rounds.answered(other) == false) }
        #expect(rounds.silence(at: at(110)) == .init(part: part, time: .seconds(10)))
        #expect(rounds.begin(at: at(115)) == false, "it is not asked again")
        #expect(rounds.answered(part) == true, "a late answer is one")
        #expect(rounds.begin(at: at(130)) == true)
    }

    @Test func theEngineIsReportedWhereNobodyAnswers() {
        var rounds = WatchdogRounds()
        _ = rounds.begin(at: at(0))
        #expect(rounds.silence(at: at(10)) == .init(part: .engine, time: .seconds(10)))
    }

    @Test func theIntervalIsHalfOfWhatTheManagerSets() {
        func interval(_ limit: String?, _ process: String? = nil) -> Duration? {
            Watchdog.interval(microseconds: limit, process: process, ofProcess: 42)
        }
        #expect(interval("30000000") == .seconds(15))
        #expect(interval("30000000", "42") == .seconds(15))
        #expect(interval("1") == .milliseconds(10))
        #expect((interval("18446744073709551614") ?? .zero) > .seconds(1_000_000))
        for limit in [nil, "", "0", "-1", "1s", "18446744073709551615", "18446744073709551616"] {
            #expect(interval(limit) == nil, "\(limit ?? "nothing")")
        }
        for process in ["43", "", "x"] { #expect(interval("30000000", process) == nil) }
    }

    @Test func silenceIsReportedAndEndsIt() async {
        let told = Mutex(0)
        let warned = Mutex<[String]>([])
        let watchdog = Watchdog(
            every: .milliseconds(20),
            ask: { @Sendable dog in
                dog.heard(from: .engine)
                dog.heard(from: .signals)
                if told.withLock({ $0 }) < 3 { dog.heard(from: .journal) }
            }, tell: { @Sendable in told.withLock { $0 += 1 } },
            warn: { @Sendable text in warned.withLock { $0.append(text) } })
        watchdog.begin()
        #expect(await eventually { !warned.withLock { $0.isEmpty } })
        #expect(told.withLock { $0 } == 3)
        #expect(warned.withLock { $0.first?.hasPrefix("the journal has not answered for ") } == true)
    }
}
