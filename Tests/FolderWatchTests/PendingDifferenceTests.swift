import Files
import Platform
import SystemPackage
import TestTools
import Testing

@testable import FolderWatch

@Suite("PendingDifference: what a listener is told, merged")
struct PendingDifferenceTests {
    private func entry(_ name: String, _ size: Int = 0) -> FolderEntry {
        var status = stat()
        status.st_mode = S_IFREG
        status.st_size = off_t(size)
        return FolderEntry(FileName(name) ?? FileName(unchecked: []), status)
    }

    private func note(_ pending: inout PendingDifference, _ old: FolderEntry?, _ new: FolderEntry?) {
        if let name = (old ?? new)?.fileName { pending.note(name, from: old, to: new) }
    }

    @Test("Nothing is told before the listing is complete, and then also that nothing is there")
    func initial() {
        var pending = PendingDifference()
        #expect(pending.take() == nil)
        pending.complete()
        let first = pending.take()
        #expect(first?.isInitial == true && first?.isEmpty == true)
        #expect(pending.take() == nil)
    }

    @Test("What came and went meanwhile is not told; what went and came is changed, or nothing")
    func merged() {
        var pending = PendingDifference()
        pending.complete()
        _ = pending.take()
        note(&pending, nil, entry("a"))
        note(&pending, entry("a"), nil)
        #expect(pending.take() == nil)
        note(&pending, entry("b", 1), nil)
        note(&pending, nil, entry("b", 1))
        #expect(pending.take() == nil)
        note(&pending, entry("b", 1), nil)
        note(&pending, nil, entry("b", 2))
        #expect(pending.take()?.changed == [entry("b", 2)])
        note(&pending, entry("b", 2), entry("b", 3))
        note(&pending, entry("b", 3), nil)
        #expect(pending.take()?.deleted == [entry("b", 2)], "what was told is deleted, not what nobody heard of")
    }

    @Test("However changes are merged, what is told adds up to what is there", arguments: [1, 2, 3, 4, 5, 6, 7, 8])
    func addsUp(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var pending = PendingDifference()
        pending.complete()
        let told = Told()
        var there: [String: FolderEntry] = [:]
        for _ in 0..<2000 {
            let name = "n\(Int.random(in: 0..<12, using: &generator))"
            let new = Int.random(in: 0..<4, using: &generator)
            let (old, next) = (there[name], new == 0 ? nil : entry(name, new))
            if old != next { note(&pending, old, next) }
            there[name] = next
            if Int.random(in: 0..<5, using: &generator) == 0, let difference = pending.take() { told.take(difference) }
        }
        if let difference = pending.take() { told.take(difference) }
        #expect(told.faults.isEmpty)
        #expect(told.entries == there.values.sorted { $0.fileName < $1.fileName })
    }
}
