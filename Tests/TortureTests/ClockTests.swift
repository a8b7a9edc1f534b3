import Glibc
import PipelineKit
import SystemPackage
import TestSupport
import Testing

extension Torture {
    /// A clock that is set while the daemon runs, a day forth or back: nothing hangs, and nothing happens too early.
    @Suite(.enabled(if: FakeClock.isPossible, "\(Tool.skip("faketime"))")) struct ClockTests {
        @Test(arguments: ["+1d", "-1d"]) func aQuietTimeTakesItsTime(_ jump: String) async throws {
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
            try clock.set(jump)
            let claimed = try await eventually { try daemon.hasLogged("claimed") }
            let waited = ContinuousClock.now - began
            #expect(claimed && waited >= .milliseconds(1400), "claimed after \(waited)")
            let settled = try await eventually { try mill.violations(.settled).isEmpty }
            #expect(settled, "\(daemon.transcript)")
            try daemon.send(SIGTERM)
            #expect(try daemon.wait() == 0)
            Torture.say("clock \(jump): claimed after \(waited) of quiet")
        }

        @Test(arguments: ["+1d", "-1d"]) func aRetryTakesItsTime(_ jump: String) async throws {
            let scratch = try ScratchFolder()
            var mill = Mill(at: scratch.path)
            try mill.build(
                quiet: "50ms", ["retry: { attempts: 3, backoff: 2s, max_backoff: 4s }"], checksum: ", timeout: 1ms")
            let clock = try FakeClock(scratch.path("clock"))
            var daemon = try mill.start(log: scratch.path("log"), level: "debug", wrapper: clock.wrapper)
            try mill.dropPlain("large.bin", size: 60_000_000, fate: .failed)
            let deferred = try await eventually { try daemon.hasLogged("deferred") }
            #expect(deferred, "\(daemon.transcript)")
            let began = ContinuousClock.now
            try clock.set(jump)
            // Three attempts, so two waits: 2 s and 4 s, each shortened by chance by no more than half.
            let failed = try await eventually(within: .seconds(40)) { try daemon.hasLogged("failed") }
            let waited = ContinuousClock.now - began
            #expect(failed && waited >= .milliseconds(2500), "failed after \(waited): \(daemon.transcript)")
            #expect(try await eventually { try mill.violations(.settled).isEmpty })
            try daemon.send(SIGTERM)
            #expect(try daemon.wait() == 0)
            Torture.say("clock \(jump): two retries took \(waited)")
        }

        /// The clock went back while the daemon was down: what it wrote down as later is not a day away.
        @Test(arguments: ["+1d", "-1d"]) func aRetryIsNotForgottenOverAStop(_ jump: String) async throws {
            let scratch = try ScratchFolder()
            var mill = Mill(at: scratch.path)
            try mill.build(
                quiet: "50ms", ["retry: { attempts: 2, backoff: 3s, max_backoff: 4s }"], checksum: ", timeout: 1ms")
            let clock = try FakeClock(scratch.path("clock"))
            var daemon = try mill.start(log: scratch.path("log"), level: "debug", wrapper: clock.wrapper)
            try mill.dropPlain("large.bin", size: 60_000_000, fate: .failed)
            #expect(try await eventually { try daemon.hasLogged("deferred") })
            try daemon.send(SIGTERM)
            #expect(try daemon.wait() == 0)
            try clock.set(jump)
            daemon = try mill.start(log: scratch.path("log2"), level: "debug", wrapper: clock.wrapper)
            let failed = try await eventually(within: .seconds(30)) { try daemon.hasLogged("failed") }
            #expect(failed, "\(daemon.transcript)")
            #expect(try await eventually { try mill.violations(.settled).isEmpty })
            try daemon.end()
        }
    }
}

/// A wall clock that can be set while a program runs; the monotonic clock goes on as it is, as it does when somebody
/// really sets the clock.
private struct FakeClock {
    let file: FilePath
    private static let library: String? = {
        guard let tool = Tool.find("faketime") else { return nil }
        do {
            let lines = try tool.run(["-m", "-f", "+0", "/usr/bin/env"]).text.split(separator: "\n")
            return lines.first { $0.hasPrefix("LD_PRELOAD=") }.map(String.init)
        } catch {
            return nil
        }
    }()

    static var isPossible: Bool { library != nil }

    init(_ file: FilePath) throws {
        self.file = file
        try set("+0")
    }

    /// Sets the clock so far from the real one.
    func set(_ offset: String) throws {
        let file = try OpenFile.open(file, O_WRONLY | O_CREAT | O_TRUNC, mode: 0o644)
        try file.write(Array("\(offset)\n".utf8))
        try file.close()
    }

    var wrapper: [String] {
        [
            "/usr/bin/env", Self.library ?? "", "FAKETIME_TIMESTAMP_FILE=\(file.string)", "FAKETIME_NO_CACHE=1",
            "FAKETIME_DONT_FAKE_MONOTONIC=1",
        ]
    }
}
