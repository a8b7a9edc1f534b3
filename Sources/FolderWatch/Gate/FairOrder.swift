/// Who is next of those that share something: the highest level first where anything waits, and there the producers by
/// turns, each as often as its weight says. Pure: nothing but what waits, is taken and is over comes in. It costs some
/// 100 bytes for each producer of which something waits, and nothing for others.
package struct FairOrder: Sendable {
    /// One that waits, and for whom.
    package struct Place: Hashable, Sendable {
        package let level: FairLevel
        /// Empty: nobody's.
        package let producer: String

        package init(_ level: FairLevel, of producer: String) {
            self.level = level
            self.producer = producer
        }
    }

    private struct Line: Sendable {
        var waiting: UInt32 = 0
        /// When its turn is, in a time that passes as turns are taken.
        var turn: Int64 = 0
    }

    /// Those that come when so many are there share one place.
    package static let mostProducers = 10_000
    /// What these are called together.
    package static let others = "(others)"
    /// The greatest weight.
    package static let mostWeight = 100

    /// The time that a turn takes of one with weight 1. The ranks below have room for 2^55 of it: a thousand years of a
    /// hundred a second.
    private static let turn: Int64 = 10_000
    private static let levelShift = 55

    private var weights: [String: Int]
    /// Those of which something waits, queued by when their turn is; and some that were ahead when their last one was
    /// taken.
    private var lines = KeyedHeap<Place, Line>()
    /// How many of these wait for nothing, and how many are when they are looked through.
    private var idle = 0, mostIdle = 16
    /// Where anything has waited.
    private var levels: [FairLevel] = []
    /// How far the time of each level is: nobody's turn is before it.
    private var times: [FairLevel: Int64] = [:]
    /// Those whose turn does not come.
    private var blocked: Set<String> = []

    /// `weights`: of producers, from 1 to `mostWeight`; others have 1.
    package init(weights: [String: Int] = [:]) { self.weights = weights }

    /// Changes a producer's weight.
    package mutating func weigh(_ producer: String, _ weight: Int) { weights[producer] = weight == 1 ? nil : weight }

    /// Who is next; nil where nothing waits, or all of it is of producers that are blocked.
    package var next: Place? { lines.first.map { lines.key(of: $0) } }

    /// Whether what waits of a producer is not taken.
    package func isBlocked(_ producer: String) -> Bool { blocked.contains(producer) }

    /// One more waits. Returns where it is counted, which `take` and `leave` want to know.
    package mutating func join(_ asked: Place) -> Place {
        let isShared = lines.count >= Self.mostProducers && lines.find(asked) == nil
        if isShared, idle > lines.count / 16 { forgetIdle() }
        let place = isShared && lines.count >= Self.mostProducers ? Place(asked.level, of: Self.others) : asked
        let slot: KeyedHeap<Place, Line>.Slot
        if let found = lines.find(place) {
            slot = found
            if lines[slot].waiting == 0 { idle -= 1 }
        } else {
            slot = lines.insert(place, Line())
            if !levels.contains(place.level) { levels.append(place.level) }
        }
        lines[slot].waiting += 1
        guard lines[slot].waiting == 1 else { return place }
        lines[slot].turn = max(lines[slot].turn, times[place.level] ?? 0)
        if !isBlocked(place.producer) { enqueue(slot) }
        return place
    }

    /// One that waited there does so no more, and was not taken.
    package mutating func leave(_ place: Place) {
        guard let slot = lines.find(place), lines[slot].waiting > 0 else { return }
        lines[slot].waiting -= 1
        if lines[slot].waiting == 0 { rest(slot) }
    }

    /// One that waited there is taken: its producer has had its turn.
    package mutating func take(_ place: Place) {
        guard let slot = lines.find(place), lines[slot].waiting > 0 else { return }
        times[place.level] = max(times[place.level] ?? 0, lines[slot].turn)
        let weight = min(max(weights[place.producer] ?? 1, 1), Self.mostWeight)
        lines[slot].turn += Self.turn / Int64(weight)
        lines[slot].waiting -= 1
        if lines[slot].waiting == 0 { rest(slot) } else if lines.rank(of: slot) != nil { enqueue(slot) }
    }

    /// The producer's turn does not come until it is unblocked: enough of it is under way.
    package mutating func block(_ producer: String) {
        guard blocked.insert(producer).inserted else { return }
        places(of: producer).forEach { lines.dequeue($0) }
    }

    /// Its turn comes again.
    package mutating func unblock(_ producer: String) {
        guard blocked.remove(producer) != nil else { return }
        places(of: producer).filter { lines[$0].waiting > 0 }.forEach { enqueue($0) }
    }

    private func places(of producer: String) -> [KeyedHeap<Place, Line>.Slot] {
        levels.compactMap { lines.find(Place($0, of: producer)) }
    }

    private mutating func enqueue(_ slot: KeyedHeap<Place, Line>.Slot) {
        lines.enqueue(slot, rank: Int64(lines.key(of: slot).level.rank) << Self.levelShift + lines[slot].turn)
    }

    /// Nothing of it waits any more. What it is ahead is kept until the others are as far.
    private mutating func rest(_ slot: KeyedHeap<Place, Line>.Slot) {
        lines.dequeue(slot)
        idle += 1
        if idle > mostIdle { forgetIdle() }
    }

    private mutating func forgetIdle() {
        let isAlone = idle == lines.count
        let over = lines.slots.map { lines.key(of: $0) }.filter { place in
            guard let slot = lines.find(place), lines[slot].waiting == 0 else { return false }
            return isAlone || lines[slot].turn <= times[place.level] ?? 0 || lines.count >= Self.mostProducers
        }
        for place in over {
            if let slot = lines.find(place) { _ = lines.remove(slot) }
        }
        idle -= over.count
        mostIdle = 2 * idle + 16
        if lines.count == 0 { times = [:] }
    }
}
