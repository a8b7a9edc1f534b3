import TestSupport
import Testing

@testable import FolderWatch
@testable import Readiness

@Suite("KeyedHeap") struct KeyedHeapTests {
    /// The same without any cleverness: a dictionary, searched and sorted whenever something is asked.
    private struct Model {
        var value: Int
        /// Nil for one that is not queued.
        var rank: Int64?
    }

    private static let isBefore: KeyedHeap<Int, Int>.Order = { @Sendable key, value, otherKey, other in
        (value, key) < (other, otherKey)
    }

    @Test("It keeps, orders and finds what a plain dictionary does", arguments: 1...4 as ClosedRange<UInt64>)
    func asAPlainModel(seed: UInt64) throws {
        var numbers = SeededGenerator(seed: seed)
        var heap = KeyedHeap<Int, Int>(ofOneRank: Self.isBefore)
        var model: [Int: Model] = [:]
        // What is kept of an entry beside the heap, by its slot.
        var notes: [KeyedHeap<Int, Int>.Slot: Int] = [:]
        func first() -> Int? {
            model.min { left, right in
                guard let rank = left.value.rank else { return false }
                guard let other = right.value.rank else { return true }
                return (rank, left.value.value, left.key) < (other, right.value.value, right.key)
            }.flatMap { $0.value.rank == nil ? nil : $0.key }
        }
        func remove(_ slot: KeyedHeap<Int, Int>.Slot) {
            model[heap.key(of: slot)] = nil
            notes[slot] = nil
            if let moved = heap.remove(slot) { notes[slot] = notes.removeValue(forKey: moved) }
        }
        // More than one block of entries, and back to none in between.
        for step in 0..<20_000 {
            let key = Int.random(in: 0..<3000, using: &numbers)
            // Few of them, so that many entries have the same.
            let rank = Int64.random(in: -20..<20, using: &numbers)
            let isShrinking = step / 5000 % 2 == 1
            switch (heap.find(key), Int.random(in: 0..<8, using: &numbers)) {
            case (nil, _) where isShrinking: break
            case (nil, let choice):
                let value = Int.random(in: 0..<100, using: &numbers)
                let slot = heap.insert(key, value)
                notes[slot] = key
                if choice > 0 { heap.enqueue(slot, rank: rank) }
                model[key] = Model(value: value, rank: choice > 0 ? rank : nil)
            case (let slot?, 0):
                heap.dequeue(slot)
                model[key]?.rank = nil
            case (let slot?, 1...3):
                heap[slot] = step
                heap.enqueue(slot, rank: rank)
                model[key] = Model(value: step, rank: rank)
            case (let slot?, 4...) where isShrinking || step % 3 == 0: remove(slot)
            default: break
            }
            if step % 100 == 0 { try #require(heap.first.map { heap.key(of: $0) } == first()) }
            if isShrinking, let next = heap.first { remove(next) }
            try #require(heap.count == model.count)
        }
        #expect(Set(heap.slots.map { heap.key(of: $0) }) == Set(model.keys))
        for (key, expected) in model {
            let slot = try #require(heap.find(key))
            #expect(heap[slot] == expected.value)
            #expect(heap.rank(of: slot) == expected.rank)
            #expect(notes[slot] == key)
        }
        let unqueued = model.values.count { $0.rank == nil }
        while let next = heap.first {
            try #require(heap.key(of: next) == first())
            remove(next)
        }
        #expect(heap.count == unqueued)
    }

    @Test("Those of one rank come in the order in which they were queued", arguments: 1...4 as ClosedRange<UInt64>)
    func ranksAlone(seed: UInt64) throws {
        var numbers = SeededGenerator(seed: seed)
        var heap = KeyedHeap<Int, Void>()
        var queued: [Int: (rank: Int64, turn: Int)] = [:]
        for turn in 0..<20_000 {
            let key = Int.random(in: 0..<3000, using: &numbers)
            let rank = [Int64.min, -1, 0, 1, .max].randomElement(using: &numbers) ?? 0
            heap.enqueue(heap.find(key) ?? heap.insert(key, ()), rank: rank)
            queued[key] = (rank, turn)
        }
        let expected = queued.sorted { ($0.value.rank, $0.value.turn) < ($1.value.rank, $1.value.turn) }
        for (key, value) in expected {
            let next = try #require(heap.first)
            try #require(heap.key(of: next) == key && heap.rank(of: next) == value.rank)
            _ = heap.remove(next)
        }
        #expect(heap.count == 0 && heap.first == nil)
    }
}
