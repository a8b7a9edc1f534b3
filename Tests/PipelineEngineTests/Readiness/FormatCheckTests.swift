@preconcurrency import Dispatch
import Files
import Glibc
import PipelineKit
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import FolderWatch
@testable import Readiness

/// What the engine makes of what those say who know formats.
@Suite("Complete by format", .timeLimit(.minutes(5))) struct FormatCheckTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    /// Whole is what ends in a full stop; `?` cannot be told.
    private static let byLastByte: FormatJudge = { @Sendable file, _, _ in
        var byte: UInt8 = 0
        guard pread(file, &byte, 1, lseek(file, 0, SEEK_END) - 1) == 1 else { return .whole }
        switch byte {
        case UInt8(ascii: "."): return .whole
        case UInt8(ascii: "?"): return .undetermined("nobody knows")
        default: return .lacks("a sentence without its end")
        }
    }

    private func engine(adjust: (inout Pipeline) -> Void = { _ in }) throws -> EngineHarness {
        try EngineHarness(scratch: scratch, stages: [.passing], quiet: .milliseconds(50)) {
            $0.ready.complete = .format
            adjust(&$0)
        }
    }

    private func settled(_ engine: EngineHarness) -> [String] { engine.reports.map(\.job.drop.name.text).sorted() }

    @Test("What is not whole waits, says so, and is taken once it is")
    func waits() async throws {
        let engine = try engine()
        try engine.dropHere("half", "It begins")
        try engine.dropHere("whole", "It is.")
        try engine.start(asking: Self.byLastByte)
        #expect(await eventually { settled(engine) == ["whole"] })
        let lack = Waiting.incomplete("a sentence without its end")
        #expect(await eventually { await engine.waiting(for: "half")?.waiting == lack })
        try scratch.append(Array(" and ends.".utf8), to: scratch.path("inbox/half"))
        #expect(await eventually { settled(engine) == ["half", "whole"] })
        #expect(try scratch.text("processed/half") == "It begins and ends.")
        _ = await engine.stop()
    }

    @Test("What nobody can tell is not taken", arguments: [false, true])
    func untold(isNobodyNamed: Bool) async throws {
        let engine = try engine()
        try engine.dropHere("a", "It is?")
        try engine.start(asking: isNobodyNamed ? nil : Self.byLastByte)
        let reason = isNobodyNamed ? "no format checker is configured" : "nobody knows"
        #expect(await eventually { await engine.waiting(for: "a")?.waiting == .undetermined(reason) })
        _ = await engine.stop()
    }

    @Test("The time that it may take counts", arguments: [("It is?", "nobody knows"), ("It is", "without its end")])
    func timeout(content: String, reason: String) async throws {
        let engine = try engine { $0.ready.timeout = .seconds(2) }
        try engine.dropHere("a", content)
        try engine.start(asking: Self.byLastByte)
        #expect(await eventually { engine.reports.count == 1 })
        #expect(try scratch.text("failed/a.error.json").contains(reason))
        _ = await engine.stop()
    }

    @Test("One that takes for ever holds up neither others nor the end")
    func hangs() async throws {
        let asked = Mutex(0)
        let engine = try engine()
        try engine.dropHere("a-hangs", "hang")
        try engine.start { @Sendable file, _, isStopped in
            var byte: UInt8 = 0
            guard pread(file, &byte, 1, 0) == 1, byte == UInt8(ascii: "h") else { return .whole }
            asked.withLock { $0 += 1 }
            while !isStopped() { poll(nil, 0, 5) }
            return .undetermined("it was called off")
        }
        #expect(await eventually { await engine.waiting(for: "a-hangs")?.waiting == .reading })
        for number in 0..<8 { try engine.dropHere("b\(number)", "1") }
        #expect(await eventually { engine.reports.count == 8 })
        #expect(await engine.waiting(for: "a-hangs")?.waiting == .reading)
        #expect(asked.withLock { $0 } == 1)
        // Whoever looks at it is told to stop once it is gone.
        #expect(unlink(scratch.path("inbox/a-hangs").string) == 0)
        #expect(await eventually { await engine.waiting(for: "a-hangs") == nil })
        _ = await engine.stop()
    }

    @Test("Many that take too long hold up none that does not")
    func manyHang() async throws {
        let asked = Mutex<[Int64: Int]>([:])
        let engine = try engine()
        for number in 0..<10 { try engine.dropHere("a\(number)", "hang") }
        try engine.start { @Sendable file, seconds, isStopped in
            var byte: UInt8 = 0
            guard pread(file, &byte, 1, 0) == 1, byte == UInt8(ascii: "h") else { return .whole }
            asked.withLock { $0[seconds, default: 0] += 1 }
            while seconds > 10, !isStopped() { poll(nil, 0, 5) }
            return nil
        }
        // All but one queue are taken by those that have more time.
        #expect(await eventually { asked.withLock { $0 } == [2: 10, 60: 3] })
        for number in 0..<8 { try engine.dropHere("b\(number)", "1") }
        #expect(await eventually { engine.reports.count == 8 })
        #expect(asked.withLock { $0 } == [2: 10, 60: 3])
        #expect(await engine.waiting(for: "a0")?.waiting == .reading)
        _ = await engine.stop()
    }

    @Test("What nobody can tell is asked for less and less often")
    func rarely() async throws {
        let path = try scratch.write("It is?", to: "a")
        let reads = Mutex(0)
        let owner = DispatchQueue(label: "owner")
        let reading = InboxReading<Int, Int>(in: scratch.path, on: ["one"], for: owner) { @Sendable _ in
            .passing(-1)
        } read: { @Sendable _, _, _, _, _ in
            .passing(
                reads.withLock {
                    $0 += 1; return $0
                })
        }
        let file = try OpenFile.open(path, O_RDONLY)
        let state = Fingerprint(try file.status())
        let drop = DropPath(try #require(FileName("a")))
        func answer() -> Int? { owner.sync { reading.answer(of: drop, in: state, asking: 1) } }
        for round in 1...8 {
            #expect(answer() == nil)
            #expect(await eventually { reads.withLock { $0 } == round })
            for _ in 0..<min(1 << (round - 1), 32) { #expect(await eventually { answer() == round }) }
        }
        owner.sync { reading.stop() }
    }

    @Test("Each file of a dropped folder is asked about, and the first that is not whole is named")
    func folder() async throws {
        let engine = try engine { $0.ready.unit = .folder }
        try scratch.write("It is.", to: "inbox/a/one")
        try scratch.write("It is", to: "inbox/a/in/two")
        try engine.start(asking: Self.byLastByte)
        let lack = Waiting.incomplete("in/two is a sentence without its end")
        #expect(await eventually { await engine.waiting(for: "a")?.waiting == lack })
        try scratch.write("It is.", to: "inbox/a/in/two")
        #expect(await eventually { settled(engine) == ["a"] })
        _ = await engine.stop()
    }

    @Test("With 'once' it stays, and says what is missing")
    func once() async throws {
        let engine = try engine()
        try engine.dropHere("half", "It begins")
        try engine.start(once: true, asking: Self.byLastByte)
        #expect(await eventually { engine.summary != nil })
        #expect(engine.summary?.remaining.first?.reason.contains("a sentence without its end") == true)
        #expect(engine.summary?.remaining.first?.isContradicted == true)
    }

    @Test("A pipeline that does not ask for it takes what stands still")
    func notAsked() async throws {
        let engine = try engine { $0.ready.complete = .still }
        try engine.dropHere("half", "It begins")
        try engine.start(asking: Self.byLastByte)
        #expect(await eventually { settled(engine) == ["half"] })
        _ = await engine.stop()
    }
}
