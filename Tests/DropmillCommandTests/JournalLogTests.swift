import Dispatch
import Files
import Glibc
import Logging
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@testable import DropmillCommand
@testable import PipelineEngine

@Suite struct JournalLogTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    /// A socket like journald's.
    private func listen() throws -> Int32 {
        let listener = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        try #require(withAddress { bind(listener, $0, $1) } == 0)
        return listener
    }

    private func connect(_ other: Int32) -> Bool { withAddress { Glibc.connect(other, $0, $1) } == 0 }

    private func withAddress(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(scratch.path("j").string.utf8)) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    /// Logs to the socket, with standard error in the file `stderr`.
    private func log(_ events: [EngineEvent]) throws {
        let error = scratch.path("stderr").withPlatformString { open($0, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600) }
        try #require(error >= 0)
        defer { close(error) }
        let output = LogOutput(descriptor: error, journal: JournalSocket(scratch.path("j"), orElse: error))
        let logger = Logger(label: "test") { _ in JournalLogHandler(output: output, level: .debug) }
        let log = JobLog(logger: logger, level: .debug, namesPipeline: true, progress: nil)
        for event in events { log.record(event) }
        output.flush()
    }

    private let full = Failure(.environment, code: "io.write", summary: "The disk is full.", remedy: "Free some.")

    @Test func itsOwnTroubleIsAnErrorAndAFailedJobIsNone() throws {
        let listener = try listen()
        defer { close(listener) }
        try log([.trouble(message: "The journal is damaged."), .warning(pipeline: nil, message: "Mind.")])
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        for priority in [3, 4] {
            let count = recv(listener, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            let entry = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
            #expect(entry.contains("\nPRIORITY=\(priority)\n"), "\(entry)")
        }
    }

    @Test func anEntryHasItsFields() throws {
        let listener = try listen()
        defer { close(listener) }
        let name = try #require(FileName(Array("a\nb".utf8)))
        try log([
            .paused(pipeline: "press", full), .refused(pipeline: "press", path: DropPath(name), reason: "a link"),
        ])
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let first = recv(listener, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        let message = "press: paused: The disk is full.\nFree some."
        let pause = String(decoding: buffer.prefix(max(0, first)), as: UTF8.self)
        #expect(pause.hasPrefix("MESSAGE\n\u{2B}\0\0\0\0\0\0\0\(message)\nPRIORITY=4\n"))
        for field in ["PIPELINE=press", "EVENT=paused", "CODE=io.write", "REASON=The disk is full."] {
            #expect(pause.contains("\nDROPMILL_\(field)\n"))
        }
        #expect(pause.contains("\nMESSAGE_ID=\(JournalLogHandler.messageID(of: "paused"))\n"))
        let second = recv(listener, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        let refusal = String(decoding: buffer.prefix(max(0, second)), as: UTF8.self)
        #expect(refusal.contains("\nDROPMILL_NAME\n\u{3}\0\0\0\0\0\0\0a\nb\n"))
        #expect(try scratch.text("stderr").isEmpty)
    }

    @Test func whatIsTooLargeGoesAlongAsAFile() throws {
        let listener = try listen()
        defer { close(listener) }
        let text = String(repeating: "x", count: 1 << 20)
        try log([.warning(pipeline: nil, message: text)])
        var byte: UInt8 = 0
        #expect(recv(listener, &byte, 1, Int32(MSG_DONTWAIT | MSG_TRUNC)) == 0)
        #expect(try scratch.text("stderr").isEmpty)
    }

    /// Has an output end elsewhere, and says when it has.
    private func end(_ output: LogOutput) -> DispatchSemaphore {
        let ended = DispatchSemaphore(value: 0)
        DispatchQueue.global().async {
            output.finish(within: .seconds(60))
            ended.signal()
        }
        return ended
    }

    /// The journal asks the process who it is; what it reads once that has ended belongs to no unit.
    @Test func theProgramEndsOnceItsLastWordIsRead() throws {
        let listener = try listen()
        defer { close(listener) }
        let output = LogOutput(descriptor: -1, journal: JournalSocket(scratch.path("j"), orElse: -1))
        output.write(JournalEntry(priority: 3, message: "The disk is full.").packed)
        let ended = end(output)
        // That there is something to read does not mean that it is read, nor that it is dealt with.
        var byte: UInt8 = 0
        #expect(recv(listener, &byte, 1, Int32(MSG_TRUNC)) > 0)
        #expect(ended.wait(timeout: .now()) == .timedOut)
        #expect(recv(listener, &byte, 1, Int32(MSG_TRUNC)) == 0)
        #expect(ended.wait(timeout: .now() + 60) == .success)
    }

    /// Its queue may be full of what others say: that is when it reads late.
    @Test func aJournalThatIsBehindIsWaitedForToo() throws {
        let listener = try listen()
        defer { close(listener) }
        let output = LogOutput(descriptor: -1, journal: JournalSocket(scratch.path("j"), orElse: -1))
        output.write(JournalEntry(priority: 3, message: "The disk is full.").packed)
        output.flush()
        let other = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(other) }
        try #require(connect(other))
        var others = 0
        while send(other, "x", 1, Int32(MSG_DONTWAIT)) == 1 { others += 1 }
        #expect(others > 0 && errno == EAGAIN)
        let ended = end(output)
        var byte: UInt8 = 0
        for _ in 0...others { #expect(recv(listener, &byte, 1, Int32(MSG_TRUNC)) > 0) }
        #expect(ended.wait(timeout: .now()) == .timedOut)
        #expect(recv(listener, &byte, 1, Int32(MSG_TRUNC)) == 0)
        #expect(ended.wait(timeout: .now() + 60) == .success)
    }

    /// It is waited for, but not for long.
    @Test func aJournalThatReadsNothingHoldsUpNoEnd() throws {
        let listener = try listen()
        defer { close(listener) }
        let output = LogOutput(descriptor: -1, journal: JournalSocket(scratch.path("j"), orElse: -1))
        output.write(JournalEntry(priority: 3, message: "The disk is full.").packed)
        let took = ContinuousClock().measure { output.finish(within: .milliseconds(50)) }
        #expect(took >= .milliseconds(50) && took < .seconds(30))
    }

    @Test func withoutAJournalLinesGoToStandardError() throws {
        try log([.paused(pipeline: "press", full), .warning(pipeline: nil, message: "Second.")])
        let lines = try scratch.text("stderr").split(separator: "\n")
        #expect(lines.first?.hasPrefix("<4>cannot write to the system's journal at") == true)
        #expect(lines.dropFirst() == ["<4>press: paused: The disk is full.", "<4>Free some.", "<4>Second."])
    }
}
