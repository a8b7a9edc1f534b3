import Files
import FolderWatch
import PipelineKit
import Readiness
import TestSupport
import Testing

/// The order in which candidates lie in the gate is not that of their admission.
@Suite("Those that wait for longest, among many") struct LongestWaitingTests {
    @Test("They are the same as by sorting all", arguments: [0, 1, 20, 333, 5000])
    func areTheFirstOfAll(_ limit: Int) throws {
        var chance = SeededGenerator(seed: 17)
        var gate = ReadyGate(rule: ReadyRule(quiet: .seconds(1)))
        let all = Array(1...3000).shuffled(using: &chance)
        for time in all { gate.touch(try Self.path(time), at: MonotonicTime(nanoseconds: Int64(time))) }
        // What is forgotten has its place taken by another.
        for time in all.suffix(1000) { gate.forget(try Self.path(time)) }
        #expect(gate.longest(limit) == (try all.dropLast(1000).sorted().prefix(limit).map(Self.path)))
    }

    private static func path(_ time: Int) throws -> DropPath { DropPath(try "drop-\(time)".fileName) }
}
