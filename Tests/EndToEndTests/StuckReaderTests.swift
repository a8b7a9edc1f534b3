import Files
import Glibc
import SystemPackage
import TestSupport
import Testing

@Suite struct StuckReaderTests {
    /// Whoever reads the log has stopped doing so, and the pipe between is full: one SIGTERM is enough nevertheless.
    @Test func theDaemonStops() async throws {
        let scratch = try ScratchFolder()
        try scratch.write(
            "inbox: in\nprocessed: done\nfailed: failed\nstages: [checksum]\n", to: "pipelines/a.yaml")
        let log = scratch.path("log")
        try #require(log.withPlatformString { mkfifo($0, 0o600) } == 0)
        let pipe = try OpenFile.open(log, O_RDWR | O_NONBLOCK)
        let block = [UInt8](repeating: 0, count: 4096)
        while write(pipe.descriptor, block, block.count) > 0 {}
        try #require(errno == EAGAIN)

        var daemon = try DropmillProcess(["run"], in: scratch.path, log: log)
        // Made when signals are listened to already.
        #expect(await eventually { Folder.kind(of: scratch.path("pipelines/failed")) == .folder })
        try daemon.send(SIGTERM)
        let hasEnded = try await eventually { try daemon.hasEnded() }
        try daemon.end()
        #expect(hasEnded)
        #expect(daemon.status == 0)
    }
}
