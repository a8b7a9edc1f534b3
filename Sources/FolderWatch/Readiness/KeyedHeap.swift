/// Keys with a value each, found by key and taken in order, in little memory: an entry costs its key, its value and 10
/// to 20 bytes. A dictionary and a heap beside it would keep every key twice, and half their room empty. Pure.
struct KeyedHeap<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// An entry's place; valid until an entry is removed.
    struct Slot: Hashable, Sendable {
        fileprivate let number: UInt32
    }

    /// Whether the first of two entries comes first.
    typealias Order = @Sendable (_ key: Key, _ value: Value, _ otherKey: Key, _ otherValue: Value) -> Bool

    private struct Entry {
        let key: Key
        var value: Value
        /// Where it stands in `queue`, or `unqueued`.
        var place: UInt32
    }

    private let comesBefore: Order
    private var entries = Blocks<Entry>()
    /// Open addressing, linear probing: the number of a slot and one more, or 0. A power of two.
    private var buckets: [UInt32] = []
    /// A binary heap of slots.
    private var queue: [UInt32] = []

    private static var unqueued: UInt32 { .max }

    var count: Int { entries.count }

    init(order comesBefore: @escaping Order) { self.comesBefore = comesBefore }

    // MARK: Entries

    /// The slot of a key; nil where it is not there.
    func find(_ key: Key) -> Slot? { bucket(of: key).map { Slot(number: buckets[$0] - 1) } }

    func key(of slot: Slot) -> Key { self[slot.number].key }

    /// The value of an entry. Call `enqueue` after a change that affects the order.
    subscript(slot: Slot) -> Value {
        get { self[slot.number].value }
        _modify { yield &self[slot.number].value }
    }

    var slots: some Sequence<Slot> {
        (0..<UInt32(count)).lazy.map { Slot(number: $0) }
    }

    /// Adds a key that is not there, not queued yet.
    mutating func insert(_ key: Key, _ value: Value) -> Slot {
        if 4 * (count + 1) > 3 * buckets.count { rebuild(max(16, 2 * buckets.count)) }
        let number = UInt32(count)
        entries.append(Entry(key: key, value: value, place: Self.unqueued))
        fill(number)
        return Slot(number: number)
    }

    /// Takes an entry out. The last one takes its slot, so that memory is given back block by block; returns which slot
    /// that one had, if it is another.
    mutating func remove(_ slot: Slot) -> Slot? {
        dequeue(slot)
        if let bucket = bucket(of: self[slot.number].key) { vacate(bucket) }
        let last = Slot(number: UInt32(count - 1))
        let entry = self[last.number]
        if last != slot {
            if let bucket = bucket(of: entry.key) { buckets[bucket] = slot.number + 1 }
            if entry.place != Self.unqueued { queue[Int(entry.place)] = slot.number }
            self[slot.number] = entry
        }
        entries.removeLast()
        // Shrinks gradually after a burst.
        if 8 * count < buckets.count, buckets.count > Blocks<Entry>.size { rebuild(buckets.count / 2) }
        return last == slot ? nil : last
    }

    // MARK: Order

    var first: Slot? { queue.first.map { Slot(number: $0) } }

    /// Queues an entry, or brings it to where it belongs by its present value.
    mutating func enqueue(_ slot: Slot) {
        var place = self[slot.number].place
        if place == Self.unqueued {
            place = UInt32(queue.count)
            queue.append(slot.number)
            self[slot.number].place = place
        }
        siftDown(siftUp(Int(place)))
    }

    /// Takes an entry out of the order; it stays.
    mutating func dequeue(_ slot: Slot) {
        let place = self[slot.number].place
        guard place != Self.unqueued else { return }
        self[slot.number].place = Self.unqueued
        let last = queue.removeLast()
        // Entries that wait for an event need no order.
        if queue.isEmpty { queue = [] }
        guard last != slot.number else { return }
        put(last, at: Int(place))
        siftDown(siftUp(Int(place)))
    }

    private func isBefore(_ left: UInt32, _ right: UInt32) -> Bool {
        comesBefore(self[left].key, self[left].value, self[right].key, self[right].value)
    }

    private mutating func put(_ number: UInt32, at place: Int) {
        queue[place] = number
        self[number].place = UInt32(place)
    }

    private mutating func siftUp(_ start: Int) -> Int {
        var place = start
        let number = queue[place]
        while place > 0, isBefore(number, queue[(place - 1) / 2]) {
            put(queue[(place - 1) / 2], at: place)
            place = (place - 1) / 2
        }
        put(number, at: place)
        return place
    }

    private mutating func siftDown(_ start: Int) {
        var place = start
        let number = queue[place]
        while 2 * place + 1 < queue.count {
            var child = 2 * place + 1
            if child + 1 < queue.count, isBefore(queue[child + 1], queue[child]) { child += 1 }
            guard isBefore(queue[child], number) else { break }
            put(queue[child], at: place)
            place = child
        }
        put(number, at: place)
    }

    // MARK: Buckets

    private subscript(number: UInt32) -> Entry {
        _read { yield entries[Int(number)] }
        _modify { yield &entries[Int(number)] }
    }

    private func home(of key: Key) -> Int { key.hashValue & (buckets.count - 1) }

    private func bucket(of key: Key) -> Int? {
        guard !buckets.isEmpty else { return nil }
        var bucket = home(of: key)
        while buckets[bucket] != 0 {
            if self[buckets[bucket] - 1].key == key { return bucket }
            bucket = (bucket + 1) & (buckets.count - 1)
        }
        return nil
    }

    /// Empties a bucket; entries behind it that belong there move up, so that no search stops short of them.
    private mutating func vacate(_ bucket: Int) {
        let mask = buckets.count - 1
        var hole = bucket
        var next = bucket
        while true {
            next = (next + 1) & mask
            guard buckets[next] != 0 else { break }
            if (next - home(of: self[buckets[next] - 1].key)) & mask >= (next - hole) & mask {
                buckets[hole] = buckets[next]
                hole = next
            }
        }
        buckets[hole] = 0
    }

    private mutating func rebuild(_ size: Int) {
        buckets = []
        buckets = Array(repeating: 0, count: size)
        for number in 0..<UInt32(count) { fill(number) }
    }

    private mutating func fill(_ number: UInt32) {
        var bucket = home(of: self[number].key)
        while buckets[bucket] != 0 { bucket = (bucket + 1) & (buckets.count - 1) }
        buckets[bucket] = number + 1
    }
}
