/// Keys with a value each, found by key and taken in order of a rank, in little memory: an entry costs its key, its
/// value and 25 to 30 bytes. A dictionary and a heap beside it would keep every key twice, and half their room empty.
///
/// Entries stay where they are while the order changes: the heap moves ranks with the numbers of entries, so that
/// comparing two of them reads neither. Those of one rank come in the order in which they were queued. Pure.
struct KeyedHeap<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// An entry's place; valid until an entry is removed.
    struct Slot: Hashable, Sendable {
        fileprivate let number: UInt32
    }

    /// Whether the first of two entries of one rank comes first; false both ways where they are equal.
    typealias Order = @Sendable (_ key: Key, _ value: Value, _ otherKey: Key, _ otherValue: Value) -> Bool

    private struct Entry {
        let key: Key
        var value: Value
        /// Where it stands in `queue`, or `unqueued`.
        var place: UInt32
    }

    private struct Ranked {
        let rank: Int64
        /// When it was queued. It comes round; by then those of the last time have long been taken.
        let turn: UInt32
        /// That of the entry.
        var number: UInt32
    }

    /// Where ranks do not say all.
    private let comesBefore: Order?
    private var entries = Blocks<Entry>()
    /// Open addressing, linear probing: the number of an entry and one more, or 0. A power of two.
    private var buckets: [UInt32] = []
    /// A heap in which `arity` places are below each: what is compared at a level is one line of the cache, and there
    /// are half as many levels as with two.
    private var queue = Blocks<Ranked>()
    private var lastTurn: UInt32 = 0

    private static var arity: Int { 4 }
    private static var unqueued: UInt32 { .max }

    var count: Int { entries.count }

    init(ofOneRank comesBefore: Order? = nil) { self.comesBefore = comesBefore }

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
        if last != slot {
            let entry = self[last.number]
            if let bucket = bucket(of: entry.key) { buckets[bucket] = slot.number + 1 }
            if entry.place != Self.unqueued { queue[Int(entry.place)].number = slot.number }
            self[slot.number] = entry
        }
        entries.removeLast()
        // Shrinks gradually after a burst.
        if 8 * count < buckets.count, buckets.count > Blocks<Entry>.size { rebuild(buckets.count / 2) }
        return last == slot ? nil : last
    }

    // MARK: Order

    /// The entry that is next.
    var first: Slot? { queue.count == 0 ? nil : Slot(number: queue[0].number) }

    /// The rank by which an entry is queued; nil for one that is not.
    func rank(of slot: Slot) -> Int64? {
        let place = self[slot.number].place
        return place == Self.unqueued ? nil : queue[Int(place)].rank
    }

    /// Queues an entry by a rank, the lowest first, or brings it to where it belongs by a new one.
    mutating func enqueue(_ slot: Slot, rank: Int64) {
        lastTurn &+= 1
        let ranked = Ranked(rank: rank, turn: lastTurn, number: slot.number)
        let place = self[slot.number].place
        if place == Self.unqueued {
            queue.append(ranked)
            rise(ranked, from: queue.count - 1)
        } else {
            settle(ranked, at: Int(place))
        }
    }

    /// Takes an entry out of the order; it stays.
    mutating func dequeue(_ slot: Slot) {
        let place = Int(self[slot.number].place)
        guard place != Int(Self.unqueued) else { return }
        self[slot.number].place = Self.unqueued
        let last = queue[queue.count - 1]
        queue.removeLast()
        if place < queue.count { settle(last, at: place) }
    }

    private func isBefore(_ left: Ranked, _ right: Ranked) -> Bool {
        if left.rank != right.rank { return left.rank < right.rank }
        if let comesBefore {
            let (one, other) = (self[left.number], self[right.number])
            if comesBefore(one.key, one.value, other.key, other.value) { return true }
            if comesBefore(other.key, other.value, one.key, one.value) { return false }
        }
        return Int32(bitPattern: left.turn &- right.turn) < 0
    }

    private mutating func put(_ ranked: Ranked, at place: Int) {
        queue[place] = ranked
        self[ranked.number].place = UInt32(place)
    }

    /// Puts one at a free place or above it, where it belongs.
    private mutating func rise(_ ranked: Ranked, from start: Int) {
        var place = start
        while place > 0 {
            let above = queue[(place - 1) / Self.arity]
            guard isBefore(ranked, above) else { break }
            put(above, at: place)
            place = (place - 1) / Self.arity
        }
        put(ranked, at: place)
    }

    /// Puts one below a free place, at it or above it, where it belongs. The free place sinks to the end of the heap
    /// first: what comes to it was last as a rule, so asking at each step whether it is there yet would be in vain.
    private mutating func settle(_ ranked: Ranked, at start: Int) {
        var place = start
        while true {
            let below = Self.arity * place + 1
            guard below < queue.count else { break }
            var least = (place: below, ranked: queue[below])
            for other in (below..<min(below + Self.arity, queue.count)).dropFirst() {
                if isBefore(queue[other], least.ranked) { least = (other, queue[other]) }
            }
            put(least.ranked, at: place)
            place = least.place
        }
        rise(ranked, from: place)
    }

    // MARK: Buckets

    private subscript(number: UInt32) -> Entry {
        _read { yield entries[Int(number)] }
        _modify { yield &entries[Int(number)] }
    }

    private func home(of key: Key) -> Int { key.hashValue & (buckets.count - 1) }

    private func bucket(of key: Key) -> Int? {
        guard count > 0 else { return nil }
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
