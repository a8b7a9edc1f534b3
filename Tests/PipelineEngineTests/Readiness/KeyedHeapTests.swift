import TestSupport
import Testing

@testable import FolderWatch

@Suite("KeyedHeap") struct KeyedHeapTests {
    @Test("It keeps, orders and finds what a plain dictionary does", arguments: 1...4 as ClosedRange<UInt64>)
    func asAPlainModel(seed: UInt64) throws {
        var numbers = SeededGenerator(seed: seed)
        var heap = KeyedHeap<Int, Int>(order: { @Sendable key, value, otherKey, other in
            (value, key) < (other, otherKey)
        })
        var model: [Int: (value: Int, isQueued: Bool)] = [:]
        // More than one block of entries, and back to none in between.
        for step in 0..<20_000 {
            let key = Int.random(in: 0..<3000, using: &numbers)
            let isShrinking = step / 5000 % 2 == 1
            switch (heap.find(key), Int.random(in: 0..<8, using: &numbers)) {
            case (nil, _) where isShrinking: break
            case (nil, let choice):
                let value = Int.random(in: 0..<100, using: &numbers)
                let slot = heap.insert(key, value)
                if choice > 0 { heap.enqueue(slot) }
                model[key] = (value, choice > 0)
            case (let slot?, 0):
                heap.dequeue(slot)
                model[key]?.isQueued = false
            case (let slot?, 1...3):
                heap[slot] = step
                heap.enqueue(slot)
                model[key] = (step, true)
            case (let slot?, 4...) where isShrinking || step % 3 == 0:
                _ = heap.remove(slot)
                model[key] = nil
            default: break
            }
            if isShrinking, let first = heap.first {
                let expected = model.filter(\.value.isQueued).min {
                    ($0.value.value, $0.key) < ($1.value.value, $1.key)
                }
                if step % 100 == 0 { try #require(heap.key(of: first) == expected?.key) }
                model[heap.key(of: first)] = nil
                _ = heap.remove(first)
            }
            try #require(heap.count == model.count)
        }
        #expect(Set(heap.slots.map { heap.key(of: $0) }) == Set(model.keys))
        for (key, expected) in model {
            let slot = try #require(heap.find(key))
            #expect(heap[slot] == expected.value)
        }
        var order: [Int] = []
        while let first = heap.first {
            order.append(heap.key(of: first))
            _ = heap.remove(first)
        }
        let expected = model.filter(\.value.isQueued).sorted { ($0.value.value, $0.key) < ($1.value.value, $1.key) }
        #expect(order == expected.map(\.key))
        #expect(heap.count == model.count - expected.count)
    }
}
