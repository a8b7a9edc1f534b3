import Dispatch
import Glibc
import PipelineKit
import TestSupport
import Testing

@testable import dropmill

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
