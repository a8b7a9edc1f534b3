import Glibc
import SystemPackage
import TestSupport
import Testing

@Suite struct LeaseSignalTests {
    /// Somebody opens for writing what a lease was just taken on; the signal of that is no reason to end.
    @Test func explainOutlivesTheSignal() async throws {
        let scratch = try ScratchFolder()
        try scratch.write(
            "inbox: in\nprocessed: done\nfailed: failed\nready: { quiet: 1h }\nstages: [checksum]\n",
            to: "pipelines/a.yaml")
        let file = try scratch.write("x", to: "pipelines/in/file")
        let log = scratch.path("log")
        var explain = try DropmillProcess(["explain", file.string], in: scratch.path, log: log)
        // It watches for seconds, since the file does not become complete; by and by it has come to that.
        let hasEnded = try await eventually {
            if try explain.hasEnded() { return true }
            if try Self.ignores(SIGIO, explain.id) { try explain.send(SIGIO) }
            return false
        }
        try explain.end()
        #expect(hasEnded)
        #expect(explain.status == 0)
        #expect(try explain.text().contains("unchanged for"))
    }

    /// As proc(5) tells it; a program that is not started yet ignores nothing.
    private static func ignores(_ signal: Int32, _ process: Int32) throws -> Bool {
        let status = String(decoding: try ScratchFolder.read(FilePath("/proc/\(process)/status")), as: UTF8.self)
        guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix("SigIgn:") }),
            let mask = UInt64(line.dropFirst(7).filter(\.isHexDigit), radix: 16)
        else { return false }
        return mask & 1 << UInt64(signal - 1) != 0
    }
}
