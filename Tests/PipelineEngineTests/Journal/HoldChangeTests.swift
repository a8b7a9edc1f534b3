import Files
import SQLite
import TestSupport
import Testing

@testable import Journal
@testable import SQLiteJournal

/// What people hold: what follows from their orders, how it reads, and that it stays on record.
@Suite("Holds on record") struct HoldChangeTests {
    private static let noon = JournalSamples.time(43_200)

    private func hold(_ pipeline: String, until: Timestamp? = nil, reason: String = "") -> HoldRecord {
        HoldRecord(
            pipeline: pipeline, kind: .pause, by: "anna", user: 1000, since: Self.noon, until: until, reason: reason)
    }

    private func change(
        _ kind: HoldRecord.Kind?, _ names: [String], before: [HoldRecord] = [], for time: Duration? = nil
    ) throws(HoldRefusal) -> HoldChange {
        let order = try HoldOrder(kind, by: "bob", user: 7, reason: "RIP is down", for: time)
        return try HoldChange(order, of: names, loaded: ["scans", "press"], before: before, at: Self.noon)
    }

    @Test("Named pipelines are held, or all that are loaded")
    func held() throws {
        let one = try change(.drain, ["press", "press"], for: .seconds(60))
        #expect(
            one.held == [
                HoldRecord(
                    pipeline: "press", kind: .drain, by: "bob", user: 7, since: Self.noon,
                    until: JournalSamples.time(43_260), reason: "RIP is down")
            ])
        #expect(try change(.pause, [], before: [hold("gone")]).held.map(\.pipeline) == ["scans", "press"])
        #expect(try change(.pause, ["gone"], before: [hold("gone")]).held.map(\.by) == ["bob"])
    }

    @Test("What holds a pipeline holds it under its new name, which keeps its own")
    func renamed() {
        let names = [(old: "press", new: "print"), (old: "gone", new: "new"), (old: "free", new: "other")]
        let held = [hold("press"), hold("gone", reason: "old"), hold("new", reason: "new")]
        let change = HoldChange(
            renamed: names, before: Dictionary(uniqueKeysWithValues: held.map { ($0.pipeline, $0) }))
        #expect(change.lifted == Array(held.prefix(2)))
        #expect(change.held == [hold("print")])
    }

    @Test("What holds them is lifted, also of pipelines that are not loaded")
    func lifted() throws {
        let before = [hold("press"), hold("gone")]
        let all = try change(nil, [], before: before)
        #expect(Set(all.lifted.map(\.pipeline)) == ["press", "gone"] && all.free == [])
        let some = try change(nil, ["press", "scans"], before: before)
        #expect(some.lifted == [before[0]] && some.free == ["scans"])
    }

    @Test("An unknown name refuses all")
    func unknown() {
        let error = #expect(throws: HoldRefusal.self) { try change(.pause, ["press", "scnas"]) }
        #expect(
            error?.message
                == "there is no pipeline 'scnas'; did you mean 'scans'?; nothing was done for the others")
        #expect(throws: HoldRefusal.self) { try change(nil, ["\u{1B}[2J"]) }
    }

    @Test("No time, too long a time and too long a reason are refused", arguments: [0, -1, 367 * 86_400])
    func refused(seconds: Int) {
        #expect(throws: HoldRefusal.self) { try change(.pause, [], for: .seconds(seconds)) }
        #expect(throws: HoldRefusal.self) {
            try HoldOrder(.pause, by: "bob", user: 7, reason: String(repeating: "é", count: 201))
        }
    }

    @Test("It reads as a sentence")
    func text() throws {
        let later = Timestamp(nanoseconds: Self.noon.nanoseconds + 720_000_000_000)
        #expect(hold("a").text(at: later) == "paused by anna 12 min ago")
        #expect(hold("a").text(at: JournalSamples.time(1)) == "paused by anna", "no age by a clock that was set back")
        let end = Timestamp(nanoseconds: later.nanoseconds + 60_000_000_000)
        #expect(
            hold("a", until: end, reason: "RIP is down").text(at: later)
                == "paused by anna 12 min ago: RIP is down; until \(end.formatted("%H:%M"))")
        let far = JournalSamples.time(43_200 + 86_400 * 3)
        #expect(hold("a", until: far).news == "paused by anna; until \(far.formatted("%F %H:%M"))")
        let order = try HoldOrder(.pause, by: "bob", user: 7, reason: "a\u{1B}[2J\nb")
        #expect(order.reason == "a\\x1B[2J\\nb")
    }

    @Test("They come back by pipeline, and only what is meant is removed", arguments: JournalImplementation.allCases)
    func journal(_ implementation: JournalImplementation) throws {
        let scratch = try ScratchFolder()
        let journal = try implementation.make(in: scratch)
        defer { journal.close() }
        #expect(try journal.holds() == [])
        let paused = try change(.pause, [], for: .seconds(60))
        try journal.change(paused)
        #expect(try journal.holds() == paused.held.reversed())
        let scans = paused.held[0]
        let renewed = HoldRecord(
            pipeline: "scans", kind: .drain, by: "é \"", user: .max, since: JournalSamples.time(50_000))
        let order = try HoldOrder(.drain, by: renewed.by, user: renewed.user)
        try journal.change(
            HoldChange(order, of: ["scans"], loaded: ["scans"], before: [], at: JournalSamples.time(50_000)))
        #expect(try journal.holds().last == renewed)
        try journal.change(HoldChange(over: [scans]))
        #expect(try journal.holds().last == renewed, "the one whose time is over was another")
        try journal.change(HoldChange(over: [renewed]))
        #expect(try journal.holds() == [paused.held[1]])
    }

    @Test("They are on the disk whatever else is not, and are there after closing", arguments: [true, false])
    func durable(_ isDurable: Bool) throws {
        let scratch = try ScratchFolder()
        let journal = try SQLiteJournal.open(writing: scratch.path, durable: isDurable)
        let change = try change(.pause, [])
        try journal.change(change)
        let setting = try journal.writer?.withWriter { try $0.first("PRAGMA synchronous") }
        #expect(setting == [.integer(isDurable ? 2 : 1)], "as it was")
        try journal.makeDurable()
        try journal.change(HoldChange(over: []))
        let durable = try journal.writer?.withWriter { try $0.first("PRAGMA synchronous") }
        #expect(durable == [.integer(2)])
        journal.close()
        let again = try SQLiteJournal.open(reading: scratch.path)
        defer { again.close() }
        #expect(try again.holds().count == 2)
        #expect(throws: JournalError.self) { try again.change(change) }
    }
}
