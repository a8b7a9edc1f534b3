import Glibc
import SystemPackage
import TestSupport
import Testing

/// One signal is enough, whenever it comes.
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
}
