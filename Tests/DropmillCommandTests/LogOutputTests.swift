import Dispatch
import Files
import Glibc
import Logging
import PipelineKit
import Synchronization
import TestSupport
import Testing

@testable import DropmillCommand
@testable import PipelineEngine

@Suite struct LogOutputTests {
    /// A pipe whose ends are closed by the test.
    private func makePipe() throws -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        return (ends[0], ends[1])
    }

    private func readAll(_ descriptor: Int32) -> [UInt8] {
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count <= 0 { return all }
            all += buffer[..<count]
        }
    }

    /// More than a pipe and the waiting room hold, from several threads: every line arrives whole.
    @Test func nothingIsDroppedOrTorn() throws {
        let (reading, writing) = try makePipe()
        let output = LogOutput(descriptor: writing)
        let group = DispatchGroup()
        let line = String(repeating: "x", count: 200)
        for writer in 0..<4 {
            DispatchQueue(label: "writer.\(writer)").async(group: group) { @Sendable in
                for number in 0..<10_000 { output.write(Array("\(writer) \(number) \(line)\n".utf8)) }
            }
        }
        group.notify(queue: DispatchQueue(label: "closer")) { @Sendable in
            output.flush()
            close(writing)
        }
        let lines = String(decoding: readAll(reading), as: UTF8.self).split(separator: "\n")
        close(reading)
        #expect(lines.count == 40_000)
        for writer in 0..<4 {
            let own = lines.filter { $0.hasPrefix("\(writer) ") }
            #expect(own.elementsEqual((0..<10_000).map { "\(writer) \($0) \(line)" }) { $0 == $1 })
        }
    }

    /// Each write to a socket that keeps packets apart is one packet.
    @Test func aBurstGoesOutInFewWrites() throws {
        var ends: [Int32] = [0, 0]
        try #require(socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0, &ends) == 0)
        let output = LogOutput(descriptor: ends[1])
        let lines = (0..<1000).map { "\($0)\n" }
        for line in lines { output.write(Array(line.utf8)) }
        output.flush()
        close(ends[1])
        var packets: [String] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(ends[0], &buffer, buffer.count)
            if count <= 0 { break }
            packets.append(String(decoding: buffer[..<count], as: UTF8.self))
        }
        close(ends[0])
        #expect(packets.joined() == lines.joined())
        #expect(packets.allSatisfy { $0.hasSuffix("\n") })
        #expect(packets.count < 50)
    }

    @Test func aReaderThatGoesAwayIsSurvived() throws {
        signal(SIGPIPE, SIG_IGN)
        let (reading, writing) = try makePipe()
        close(reading)
        let output = LogOutput(descriptor: writing)
        output.write(Array("a\n".utf8))
        output.flush()
        output.write(Array("b\n".utf8))
        output.flush()
        close(writing)
    }

    /// A reader that does not read keeps whoever logs waiting, but must not keep the program from ending.
    @Test func aStuckReaderIsNotWaitedForAtTheEnd() async throws {
        let (reading, writing) = try makePipe()
        let output = LogOutput(descriptor: writing)
        let lines = Mutex(0)
        DispatchQueue(label: "writer").async { @Sendable in
            // Up to four MiB are being written, and as much waits; whoever brings more waits, too.
            for _ in 0..<16 {
                output.write([UInt8](repeating: 0x78, count: 1 << 20))
                lines.withLock { $0 += 1 }
            }
        }
        #expect(await eventually { lines.withLock { $0 } >= 4 })
        #expect(!output.flush(within: .milliseconds(200)))
        #expect(lines.withLock { $0 } < 16, "the writer waits")
        output.stopWaiting()
        #expect(await eventually { lines.withLock { $0 } == 16 })
        #expect(!output.flush(within: .milliseconds(50)))
        // Nothing is lost should somebody read after all.
        DispatchQueue(label: "closer").async { @Sendable in
            while !output.flush() {}
            close(writing)
        }
        #expect(readAll(reading).count == 16 << 20)
        close(reading)
    }

    @Test func theStatusLineStaysBelow() throws {
        let (reading, writing) = try makePipe()
        let output = LogOutput(descriptor: writing)
        func step(_ change: () -> Void) {
            change()
            output.flush()
        }
        step { output.write(Array("one\n".utf8)) }
        step { output.show(status: Array("busy".utf8)) }
        step { output.write(Array("two\n".utf8)) }
        step { output.show(status: Array("busy".utf8)) }
        step { output.show(status: []) }
        close(writing)
        let erase = "\r\u{1B}[K"
        #expect(String(decoding: readAll(reading), as: UTF8.self) == "one\nbusy\(erase)two\nbusy\(erase)")
        close(reading)
    }

    /// A stage that finds the disk full ends without an event of its own.
    @Test func aPauseTakesItsProgressAway() throws {
        let (reading, writing) = try makePipe()
        let output = LogOutput(descriptor: writing)
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let log = JobLog(logger: logger, level: .debug, namesPipeline: false, progress: ProgressLine(output: output))
        func job(_ pipeline: String) throws -> Job {
            let now = Timestamp(nanoseconds: 0)
            let drop = Drop(name: try #require(FileName("a.zip")), size: 1, droppedAt: now)
            return Job(
                id: JobIDGenerator().next(at: now), pipeline: pipeline, drop: drop, claimedAt: now, folder: "/w/1")
        }
        func record(_ event: EngineEvent) {
            log.record(event)
            output.flush()
        }
        let full = Failure(IOError("write", "/w/1/x", .noSpace))
        record(.stageProgress(try job("a"), stage: "unpack", running: .seconds(12), progress: StageProgress()))
        record(.paused(pipeline: "b", full))
        record(.paused(pipeline: "a", full))
        close(writing)
        #expect(String(decoding: readAll(reading), as: UTF8.self) == "a.zip unpack 12 s\r\u{1B}[K")
        close(reading)
    }

    @Test func progressIsReadable() {
        let progress = StageProgress()
        #expect(ProgressLine.text(stage: "hash", running: .milliseconds(2100), progress) == "hash 2 s")
        progress.add(bytes: 1_288_490_189, entries: 4312)
        #expect(
            ProgressLine.text(stage: "unpack", running: .seconds(12), progress) == "unpack 1.2 GiB, 4,312 entries, 12 s"
        )
        progress.expect(bytes: 2 << 30)
        #expect(
            ProgressLine.text(stage: "unpack", running: .seconds(12), progress)
                == "unpack 1.2 GiB of 2.0 GiB, 4,312 entries, 12 s")
    }
}
