import Files
import Glibc
import PipelineEngine
import SystemPackage
import TestSupport
import Testing

@testable import Journal
@testable import SQLiteJournal

extension Torture {
    /// A clock that is set while the daemon runs, a day forth or back: nothing hangs, and nothing happens too early.
    @Suite struct ClockTests {
        /// A stage that fails at each attempt, for a reason that may pass.
        private static let failing = "run: { command: [/bin/false], transient: [1] }"

        @Test(arguments: [1, -1]) func aQuietTimeTakesItsTime(days: Int64) async throws {
            let scratch = try ScratchFolder()
            var mill = Mill(at: scratch.path)
            try mill.build(quiet: "1500ms")
            let clock = try FakeClock(scratch.path("clock"))
            var daemon = try mill.start(log: scratch.path("log"), level: "debug", wrapper: clock.wrapper)
            #expect(try await eventually { try daemon.hasLogged("started") })

            let began = ContinuousClock.now
            try mill.dropMixed()
            // Let it be seen before the clock jumps.
            _ = try await eventually(within: .milliseconds(300)) { try daemon.hasEnded() }
            try clock.set(days: days)
            let claimed = try await eventually { try daemon.hasLogged("claimed") }
            let waited = ContinuousClock.now - began
            #expect(claimed && waited >= .milliseconds(1400), "claimed after \(waited)")
            let settled = await eventually { mill.holds(.settled) }
            #expect(settled, "\(daemon.transcript)")
            try daemon.send(SIGTERM)
            #expect(try daemon.wait() == 0)
            Torture.say("clock set by \(days) days: claimed after \(waited) of quiet")
        }

        @Test(arguments: [1, -1]) func aRetryTakesItsTime(days: Int64) async throws {
            let scratch = try ScratchFolder()
            var mill = Mill(at: scratch.path)
            try mill.build(
                quiet: "50ms", ["retry: { attempts: 3, backoff: 2s, max_backoff: 4s }"], first: Self.failing)
            let clock = try FakeClock(scratch.path("clock"))
            var daemon = try mill.start(log: scratch.path("log"), level: "debug", wrapper: clock.wrapper)
            let began = ContinuousClock.now
            try mill.dropPlain("plain.txt", fate: .failed)
            let deferred = try await eventually { try daemon.hasLogged("deferred") }
            #expect(deferred, "\(daemon.transcript)")
            try clock.set(days: days)
            // Three attempts, so two waits: 2 s and 4 s, each shortened by chance by no more than half.
            let failed = try await eventually(within: .seconds(40)) { try daemon.hasLogged("failed") }
            let waited = ContinuousClock.now - began
            #expect(failed && waited >= .milliseconds(2500), "failed after \(waited): \(daemon.transcript)")
            #expect(await eventually { mill.holds(.settled) })
            try daemon.send(SIGTERM)
            #expect(try daemon.wait() == 0)
            Torture.say("clock set by \(days) days: two retries took \(waited)")
        }

        /// The clock went back while the daemon was down: what it wrote down as later is not a day away.
        @Test(arguments: [1, -1]) func aRetryIsNotForgottenOverAStop(days: Int64) async throws {
            let scratch = try ScratchFolder()
            var mill = Mill(at: scratch.path)
            try mill.build(
                quiet: "50ms", ["retry: { attempts: 2, backoff: 20s, max_backoff: 20s }"], first: Self.failing)
            let clock = try FakeClock(scratch.path("clock"))
            var daemon = try mill.start(log: scratch.path("log"), level: "debug", wrapper: clock.wrapper)
            try mill.dropPlain("plain.txt", fate: .failed)
            #expect(try await eventually { try daemon.hasLogged("deferred") })
            try daemon.send(SIGTERM)
            #expect(try daemon.wait() == 0)
            try clock.set(days: days)
            daemon = try mill.start(log: scratch.path("log2"), level: "debug", wrapper: clock.wrapper)
            let failed = try await eventually { try daemon.hasLogged("failed") }
            #expect(failed, "\(daemon.transcript)")
            #expect(await eventually { mill.holds(.settled) })
            try daemon.end()
        }

        /// After a clock that was ahead is right again: ids go on, times are what it says, and nothing took less than
        /// no time.
        @Test func timesAreWhatTheClockSays() async throws {
            let scratch = try ScratchFolder()
            var mill = Mill(at: scratch.path)
            try mill.build(quiet: "50ms")
            let clock = try FakeClock(scratch.path("clock"))
            try clock.set(days: 3)
            var daemon = try mill.start(log: scratch.path("log"), level: "debug", wrapper: clock.wrapper)
            try mill.dropPlain("ahead.txt")
            #expect(await eventually { mill.holds(.settled) }, "\(daemon.transcript)")
            try clock.set(days: 0)
            try mill.dropPlain("right.txt")
            #expect(await eventually { mill.holds(.settled) }, "\(daemon.transcript)")
            try daemon.send(SIGTERM)
            #expect(try daemon.wait() == 0)
            let journal = try SQLiteJournal.open(reading: mill.state)
            let jobs = try journal.jobs(JobQuery())
            journal.close()
            let ahead = try #require(jobs.first { $0.drop.name.text == "ahead.txt" })
            let right = try #require(jobs.first { $0.drop.name.text == "right.txt" })
            #expect(ahead.id < right.id && ahead.claimedAt > right.claimedAt)
            #expect(right.claimedAt <= .now())
            #expect(jobs.allSatisfy { $0.took() > .zero && $0.took() < .seconds(60) }, "\(jobs.map { $0.took() })")
        }
    }
}
