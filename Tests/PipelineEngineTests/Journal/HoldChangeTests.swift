import Files
import SQLite
import TestSupport
import Testing

@testable import Journal
@testable import SQLiteJournal

/// What people hold: what follows from their orders, how it reads, and that it stays on record.
@Suite("Holds on record") struct HoldChangeTests {
    private static let noon = JournalSamples.time(43_200)

    private func hold(
        _ pipeline: String, _ kind: HoldRecord.Kind = .pause, until: Timestamp? = nil, reason: String = "",
        on node: String? = nil
    ) -> HoldRecord {
        HoldRecord(
            pipeline: pipeline, kind: kind, by: "anna", user: 1000, since: Self.noon, until: until, reason: reason,
            on: node)
    }

    private func change(
        _ kind: HoldRecord.Kind?, _ names: [String], before: [HoldRecord] = [], for time: Duration? = nil,
        on node: String? = nil
    ) throws(HoldRefusal) -> HoldChange {
        let order = try HoldOrder(kind, by: "bob", user: 7, reason: "RIP is down", for: time, on: node)
        return try HoldChange(
            order, of: names, loaded: ["scans", "press"], before: before, nodes: ["mill-1", "mill-2"], at: Self.noon)
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
        let change = HoldChange(renamed: names, before: held)
        #expect(change.lifted == Array(held.prefix(2)))
        #expect(change.held == [hold("print")])
        // On each node for itself.
        let own = HoldChange(renamed: names, before: held + [hold("gone", on: "mill-2")])
        #expect(own.held == [hold("print"), hold("new", on: "mill-2")])
        #expect(own.done(to: held) == [hold("new", reason: "new"), hold("print"), hold("new", on: "mill-2")])
    }

    @Test("What holds them is lifted, also of pipelines that are not loaded")
    func lifted() throws {
        let before = [hold("press"), hold("gone")]
        let all = try change(nil, [], before: before)
        #expect(Set(all.lifted.map(\.pipeline)) == ["press", "gone"] && all.free == [])
        let some = try change(nil, ["press", "scans"], before: before)
        #expect(some.lifted == [before[0]] && some.free == ["scans"])
    }

    @Test("What holds one node stands beside what holds all, and goes with it")
    func nodes() throws {
        let one = try change(.pause, ["press"], before: [hold("press")], on: "mill-2")
        #expect(one.held.map(\.node) == ["mill-2"])
        #expect(one.lines == ["press: paused on mill-2 by bob: RIP is down"])
        let before = [hold("press", .drain), hold("press", on: "mill-1"), hold("scans", on: "mill-2")]
        #expect(try change(nil, [], before: before).lifted.count == 3)
        #expect(try change(nil, ["scans"], before: before).lines == ["scans: resumed on mill-2"])
        let own = try change(nil, ["press"], before: before, on: "mill-1")
        #expect(own.lifted == [before[1]] && own.kept == [before[0]] && own.free.isEmpty)
        #expect(
            own.rest(at: JournalSamples.time(43_200 + 720)) == [
                "press: drained by anna 12 min ago, on all nodes; 'dropmill resume' without --node lifts that"
            ])
        #expect(try change(nil, ["scans"], before: before, on: "mill-1").free == ["scans"])
        let error = #expect(throws: HoldRefusal.self) { try change(.pause, [], on: "mill-3") }
        #expect(error?.message.hasPrefix("there is no node 'mill-3'; did you mean 'mill-") ?? false)
    }

    @Test("On a node what holds more counts, and what holds longer")
    func inForce() {
        let (early, late) = (JournalSamples.time(50_000), JournalSamples.time(60_000))
        func counts(_ holds: HoldRecord...) -> Bool {
            [holds, holds.reversed()].allSatisfy { $0.inForce(on: "mill-1") == ["a": holds[0]] }
        }
        #expect(counts(hold("a", on: "mill-1"), hold("a", .drain)))
        #expect(counts(hold("a"), hold("a", .drain, on: "mill-1")))
        #expect(counts(hold("a"), hold("a", until: late, on: "mill-1")))
        #expect(counts(hold("a", until: late, on: "mill-1"), hold("a", until: early)))
        #expect(counts(hold("a", until: early), hold("a", until: early, on: "mill-1")))
        #expect(counts(hold("a", .drain), hold("a", on: "mill-2")))
        #expect([hold("a", on: "mill-2")].inForce(on: "mill-1").isEmpty)
        #expect([hold("a", on: "mill-2")].inForce(on: nil).isEmpty)
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
