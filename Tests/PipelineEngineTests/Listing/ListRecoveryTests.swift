import Files
import Glibc
import PipelineKit
import SQLiteJournal
import SystemPackage
import TestSupport
import Testing

@testable import Journal
@testable import PipelineEngine

/// Lists of a whole engine, which is stopped and started again.
@Suite("List recovery", .timeLimit(.minutes(5))) struct ListRecoveryTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private static func listed(_ payload: Payload) -> Payload {
        var payload = payload
        guard let list = FileName("SUMS"), let name = payload.path.lastName else { return payload }
        payload.lines = [
            ListLine(
                list: list, start: [], digest: String(repeating: "abcdef", count: 4) + "\(name.bytes.count)",
                end: [.text("  "), .name(.checksumList), .text("\n")])
        ]
        return payload
    }

    private static func line(_ name: String) -> String {
        "\(String(repeating: "abcdef", count: 4))\(name.utf8.count)  \(name)\n"
    }

    /// Content that begins with "!" is not for the lane.
    private static let listing = StageEntry.quick(
        { (payload, _) throws(Failure) in listed(payload) },
        { (payload, content) in content.first == UInt8(ascii: "!") ? nil : listed(payload) })

    private func engine() throws -> EngineHarness {
        try EngineHarness(scratch: scratch, stages: [Self.listing]) { $0.durability = .full }
    }

    private func isPaused(_ engine: EngineHarness) -> Bool {
        engine.events.contains { if case .paused = $0 { true } else { false } }
    }

    @Test("In the quick lane a drop with a line gets one file less, and whatever goes the usual way has the same line")
    func lane() async throws {
        let engine = try engine()
        for number in 0..<40 { try engine.drop("small-\(number)", "content \(number)") }
        try engine.drop("odd", "! not for the lane")
        try engine.start(once: true)
        #expect(await eventually { engine.summary?.processed == 41 })
        let names = (0..<40).map { "small-\($0)" } + ["odd"]
        #expect(try scratch.tree("processed").sorted() == (names + ["SUMS"]).sorted())
        let lines = try scratch.text("processed/SUMS").split(separator: "\n").map { "\($0)\n" }
        #expect(lines.sorted() == names.map(Self.line).sorted())
        let journal = try SQLiteJournal.open(reading: scratch.path("state"))
        defer { journal.close() }
        let records = try journal.jobs(JobQuery())
        #expect(records.allSatisfy { $0.outputs == [] && $0.payload == nil && $0.intents == [] })
    }

    @Test("A start completes what the last run left of its lines, once", arguments: ["a", "! a"])
    func restart(_ content: String) async throws {
        let first = try engine()
        // Nothing can be added to that, but all else is done.
        try scratch.makeFolder("processed/SUMS")
        for name in ["one", "three"] { try first.drop(name, content) }
        try first.start()
        #expect(await eventually { isPaused(first) })
        #expect(try await eventually { try scratch.tree("processed") == ["SUMS/", "one", "three"] })
        _ = await first.stop()
        #expect(first.reports.isEmpty)
        let journal = try SQLiteJournal.open(reading: scratch.path("state"))
        let left = try journal.unfinished()
        journal.close()
        #expect(left.map(\.state) == [.settling, .settling])
        #expect(left.flatMap(\.listedLines).count == 2)

        try Folder.remove(scratch.path("processed/SUMS"))
        try scratch.write("theirs\n\(Self.line("three").prefix(20))", to: "processed/SUMS")
        let second = try engine()
        try second.start(once: true)
        #expect(await eventually { second.summary?.processed == 2 })
        let text = try scratch.text("processed/SUMS")
        #expect(text.hasPrefix("theirs\n"))
        #expect(
            text.split(separator: "\n").map { "\($0)\n" }.sorted()
                == ["theirs\n", Self.line("one"), Self.line("three")].sorted())
        #expect(try scratch.tree("processed") == ["SUMS", "one", "three"])
    }
}
