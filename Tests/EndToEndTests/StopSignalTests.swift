import Glibc
import SystemPackage
import TestSupport
import Testing

/// One signal to stop is enough, whenever it comes; the one that does not stop it never does.
@Suite(.timeLimit(.minutes(5))) struct StopSignalTests {
    /// Before the program, while it starts, and once it is at work.
    @Test(arguments: [SIGTERM, SIGINT]) func endsItAtAnyMomentOfTheStart(signal: Int32) async throws {
        let scratch = try ScratchFolder()
        try scratch.write("inbox: in\nprocessed: done\nfailed: failed\nstages: [checksum]\n", to: "pipelines/a.yaml")
        for milliseconds in stride(from: 0, through: 240, by: 6) {
            var daemon = try DropmillProcess(["run"], in: scratch.path, log: scratch.path("log"))
            // The moment is what is tested; whatever it meets, the outcome is the same.
            poll(nil, 0, Int32(milliseconds))
            try daemon.send(signal)
            let hasEnded = try await eventually { try daemon.hasEnded() }
            try daemon.end()
            #expect(hasEnded, "after \(milliseconds) ms: \(daemon.transcript)")
            #expect(daemon.status == 0 || daemon.status == 128 + signal, "after \(milliseconds) ms")
        }
    }

    /// The first line that tells of the pipeline is written while the rest is still being put to work.
    @Test func endsItTheMomentThatItHasStarted() async throws {
        let scratch = try ScratchFolder()
        try scratch.write("inbox: in\nprocessed: done\nfailed: failed\nstages: [checksum]\n", to: "pipelines/a.yaml")
        for round in 0..<30 {
            let log = scratch.path("log.\(round)")
            var daemon = try DropmillProcess(["run", "--log-format", "json"], in: scratch.path, log: log)
            // Without a pause, so that it is the moment itself.
            while try !daemon.hasLogged("started"), try !daemon.hasEnded() {}
            try daemon.send(SIGTERM)
            let hasEnded = try await eventually { try daemon.hasEnded() }
            try daemon.end()
            try #require(hasEnded, "\(daemon.transcript)")
            #expect(daemon.status == 0)
        }
    }

    /// Whether a process blocks a signal (proc_pid_status(5)).
    private func isHoldingBack(_ signal: Int32, _ process: Int32) throws -> Bool {
        let line = ProcessList.text("\(process)/status")?.split(separator: "\n").first { $0.hasPrefix("SigBlk:") }
        let mask = line?.split(separator: "\t").last.flatMap { UInt64($0, radix: 16) } ?? 0
        return mask >> UInt64(signal - 1) & 1 == 1
    }

    /// SIGHUP does not, also while it starts and while it stops.
    @Test func hangingUpNeverEndsIt() async throws {
        let scratch = try ScratchFolder()
        // At work until it is told: a time would be over before a busy machine looks.
        let go = scratch.path("go")
        let stage = "{ run: { command: [sh, -c, 'until test -e \(go); do sleep 0.05; done'] } }"
        try scratch.write(
            "inbox: in\nprocessed: done\nfailed: failed\nready: { quiet: 50ms }\nstages: [\(stage)]\n",
            to: "pipelines/a.yaml")
        for milliseconds in 1...10 {
            unlink(go.string)
            try scratch.write("x", to: "pipelines/in/drop\(milliseconds)")
            var daemon = try DropmillProcess(["run"], in: scratch.path, log: scratch.path("log"))
            // It is not the daemon yet while its libraries are loaded, some 0.7 ms.
            while try !isHoldingBack(SIGHUP, daemon.id), try !daemon.hasEnded() {}
            // The moment is what is tested; whatever it meets, the outcome is the same.
            for _ in 0..<10 {
                try daemon.send(SIGHUP)
                poll(nil, 0, Int32(milliseconds))
            }
            let isAtWork = try await eventually {
                try scratch.exists("pipelines/.dropmill")
                    && scratch.tree("pipelines/.dropmill").contains { $0.contains("drop\(milliseconds)") }
            }
            #expect(isAtWork, "after \(milliseconds) ms: \(daemon.transcript)")
            try daemon.send(SIGTERM)
            try daemon.send(SIGHUP)
            try scratch.write("", to: "go")
            let ends = try await eventually {
                try daemon.send(SIGHUP)
                return try daemon.hasEnded()
            }
            #expect(ends)
            #expect(daemon.status == 0, "after \(milliseconds) ms: \(daemon.transcript)")
        }
    }
}
