import Files
import Glibc
import Journal
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@testable import PipelineEngine

/// What the daemon may have died of while it only looked at it.
@Suite("Quarantine", .timeLimit(.minutes(5))) struct QuarantineTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private var looks: FilePath { scratch.path(".dropmill/test/looks") }

    /// What a process leaves that is killed in the middle of a look.
    private func die(at subject: LookNote.Subject, on note: String = "now") throws {
        try Folder.make(looks, mode: 0o700)
        try LookNote(in: looks, named: note).begin(subject)
    }

    private func drop(_ text: String) throws -> LookNote.Subject { .drop(DropPath(try text.fileName)) }

    @Test("A note is there for the next process until it is ended; one that was torn is none")
    func note() throws {
        let folder = scratch.path("looks")
        let subjects: [LookNote.Subject] = [
            try drop("a"), .job(JobIDGenerator().next()), try drop(String(repeating: "x", count: 255)),
            .drop(DropPath(try "b".fileName, in: InboxFolder([try "sub".fileName, try "two\nlines".fileName]))),
        ]
        for subject in subjects {
            let note = try LookNote(in: folder)
            note.begin(try drop("other"))
            note.begin(subject)
            #expect(try LookNote(in: folder).left == subject)
            #expect(try LookNote(in: folder).left == nil, "what was read is over")
            note.begin(subject)
            note.end()
            #expect(try LookNote(in: folder).left == nil)
        }
        for torn in [[5], [5, 0, 1], [255, 255, 1], [0, 0], []] as [[UInt8]] {
            try scratch.write(torn, to: folder.appending("now"))
            #expect(try LookNote(in: folder).left == nil)
        }
    }

    @Test("Of a subject that other nodes died of each counts what it has on record, and what the dead looked at last")
    func others() throws {
        let (own, other) = (try scratch.makeFolder("looks"), try scratch.makeFolder("other"))
        let a = try drop("a")
        let name = try "a".fileName
        _ = Quarantine(in: other, left: [a], limit: 3)
        try LookNote(in: other, named: "copies").begin(a)
        try LookNote(in: other).begin(try drop("innocent"))
        #expect(Quarantine.counts(in: other, isDead: false) == [a: 1])
        let dead = Quarantine.counts(in: other, isDead: true)
        #expect(dead == [a: 2])
        var quarantine = Quarantine(in: own, left: [a], others: dead, limit: 3)
        #expect(quarantine.isHeld(a) && quarantine.verdict(on: a, named: name) != nil)
        // Others' are theirs to write down, until their folders go.
        #expect(Quarantine.counts(in: own, isDead: false) == [a: 1])
        quarantine.suspect(dead, isKnown: true)
        #expect(Quarantine.counts(in: own, isDead: false) == [a: 3])
        #expect(quarantine.verdict(on: a, named: name)?.summary.contains("stopped 3 times") ?? false)
        // One that died while this one runs.
        let b = try drop("b")
        quarantine.suspect([b: 1], isKnown: false)
        #expect(quarantine.isHeld(b) && quarantine.verdict(on: b, named: name) == nil)
        quarantine.clear(a)
        #expect(Quarantine.counts(in: own, isDead: false) == [b: 1])
    }

    @Test("Deaths at one subject add up over runs, others' do not count, and what is dealt with is forgotten")
    func counts() throws {
        let folder = try scratch.makeFolder("looks")
        let (a, b) = (try drop("a"), try drop("b"))
        let name = try "a".fileName
        for count in 1...3 {
            let quarantine = Quarantine(in: folder, left: [a], limit: 3)
            #expect(quarantine.counts == [a: count])
            #expect(quarantine.isHeld(a) && !quarantine.isHeld(b))
            #expect((quarantine.verdict(on: a, named: name) != nil) == (count == 3))
        }
        var quarantine = Quarantine(in: folder, left: [b], limit: 3)
        #expect(quarantine.counts == [a: 3, b: 1])
        quarantine.admit(b)
        #expect(!quarantine.isHeld(b))
        quarantine.clear(a)
        #expect(Quarantine(in: folder, left: [], limit: 3).counts == [b: 1])
        try scratch.write("no such line\n1 6\nx 61\n2 6162\n", to: "looks/suspects")
        #expect(Quarantine(in: folder, left: [], limit: 3).counts == [try drop("ab"): 2])
    }

    @Test("One whose turn has not come waits, and is as old as the run at least")
    func waits() async throws {
        let engine = try EngineHarness(scratch: scratch, stages: [.passing])
        try engine.start()
        try engine.hold([], HoldOrder(.pause, by: "anna", user: 1000, reason: "", for: nil))
        _ = await engine.stop()
        try engine.drop("a-suspect")
        try die(at: drop("a-suspect"))
        try engine.start()
        #expect(await eventually { await engine.waiting(for: "a-suspect")?.waiting == .suspect })
        let snapshot = await engine.waiting()
        #expect(snapshot.waiting == 1 && snapshot.longest.count == 1)
        #expect(snapshot.oldest.map { $0 > .zero } == true && snapshot.longest.first?.known != nil)
        #expect(await eventually { engine.gauges.first?.waiting == 1 })
        try engine.hold([], HoldOrder(nil, by: "anna", user: 1000, reason: "", for: nil))
        #expect(await eventually { engine.reports.count == 1 })
        #expect(await eventually { engine.gauges.first?.waiting == 0 })
        _ = await engine.stop()
    }

    @Test("A quarantined drop is examined when nothing else is to be done, and is processed as any other")
    func last() async throws {
        let engine = try EngineHarness(scratch: scratch, stages: [.passing])
        try engine.drop("a-suspect")
        for number in 1...5 { try engine.drop("other-\(number)") }
        try die(at: drop("a-suspect"))
        try engine.start()
        #expect(await eventually { engine.reports.count == 6 })
        #expect(engine.reports.last?.job.drop.name.text == "a-suspect")
        #expect(engine.reports.allSatisfy { $0.outcome == .processed })
        _ = await engine.stop()
        #expect(Quarantine(in: looks, left: [], limit: 2).counts.isEmpty)
        #expect(try LookNote(in: looks).left == nil)
    }

    @Test("After the limit a drop is set aside unseen, with its reason; all others are processed")
    func rejected() async throws {
        let engine = try EngineHarness(scratch: scratch, stages: [.passing]) {
            $0.retry.attempts = 2
            $0.ready.unit = .folder
        }
        // What may not be seen: a look would refuse it for the link.
        try scratch.link("inbox/poison/link", to: "/etc/passwd", makingFolders: true)
        try scratch.write("1", to: "inbox/good/file")
        try Folder.make(looks, mode: 0o700)
        for _ in 1...2 {
            try die(at: drop("poison"))
            _ = Quarantine(in: looks, left: [try LookNote(in: looks).left].compactMap { $0 }, limit: 2)
        }
        try engine.start(once: true)
        #expect(await eventually { engine.summary != nil })
        #expect(scratch.exists("processed/good/file") && scratch.exists("failed/poison/link"))
        let report = try scratch.text("failed/poison.error.json")
        #expect(report.contains("stopped 2 times while examining 'poison'"), "\(report)")
        #expect(try scratch.tree("inbox").isEmpty)
    }

    @Test("A job that the daemon died of before the journal knew it is set aside too; others are adopted")
    func adopted() async throws {
        let engine = try EngineHarness(scratch: scratch, stages: [.passing]) { $0.retry.attempts = 2 }
        let ids = JobIDGenerator()
        let poison = ids.next()
        for (id, name) in [(poison, "poison"), (ids.next(), "good"), (ids.next(), "better")] {
            let folder = scratch.path(".dropmill/test/active").appending(id.text)
            try scratch.write(Array("1".utf8), to: folder.appending(try name.fileName))
        }
        for _ in 1...2 {
            try die(at: .job(poison))
            _ = Quarantine(in: looks, left: [try LookNote(in: looks).left].compactMap { $0 }, limit: 2)
        }
        try engine.start(once: true)
        #expect(await eventually { engine.summary != nil })
        #expect(try scratch.tree("processed") == ["better", "good"])
        #expect(try scratch.text("failed/poison.error.json").contains("recovery.limit"))
    }

    @Test("What went on beside the inbox's queue is what the daemon died of", arguments: ["proofs", "copies"])
    func beside(_ note: String) async throws {
        let engine = try EngineHarness(scratch: scratch, stages: [.passing]) {
            $0.retry.attempts = 2
            $0.ready.unit = .folder
        }
        let ids = JobIDGenerator()
        let poison = ids.next()
        for (id, name) in [(poison, "poison"), (ids.next(), "good")] {
            try scratch.write("1", to: ".dropmill/test/active/\(id.text)/\(name)/file")
        }
        try scratch.write("1", to: "inbox/honest/file")
        try Folder.make(looks, mode: 0o700)
        _ = Quarantine(in: looks, left: [try drop("honest"), .job(poison)], limit: 2)
        try die(at: drop("honest"))
        try die(at: .job(poison), on: note)
        try engine.start(once: true)
        #expect(await eventually { engine.summary != nil })
        #expect(scratch.exists("processed/honest/file"), "it was only looked at meanwhile")
        #expect(scratch.exists("processed/good/file") && scratch.exists("failed/poison/file"))
    }

    @Test("Who holds a drop open is told after ten minutes, then each hour")
    func heldOpen() {
        var held = HeldOpen<Int>()
        var told: [Int64] = []
        for minute in 0..<200 {
            let now = MonotonicTime(nanoseconds: Int64(minute) * 60_000_000_000)
            if minute == 150 { held.ended(1) }
            if let time = held.saw(1, at: now) { told.append(time.nanoseconds / 60_000_000_000) }
        }
        #expect(told == [10, 70, 130, 10])
        #expect(held.saw(2, at: MonotonicTime(nanoseconds: 0)) == nil)
    }
}

extension ScratchFolder {
    fileprivate func link(_ relative: String, to target: String, makingFolders: Bool) throws(IOError) {
        if makingFolders { try Folder.make(path(relative).removingLastComponent()) }
        try link(relative, to: target)
    }
}
