import Files

/// Complete drops that share: a line for each level and producer, of which `FairOrder` says whose turn it is. Pure. One
/// that waits costs some 100 bytes more than in a line alone.
struct FairLines: Sendable {
    private struct Waiting: Sendable {
        /// Where it is counted.
        let place: FairOrder.Place
        let producer: String
        /// Tells it from those of its path that aged before it.
        let ticket: Aging<DropPath>.Ticket
    }

    private let order: ReadyLine.Order
    private var turns: FairOrder
    private var lines: [FairOrder.Place: ReadyLine] = [:]
    private var places: [DropPath: Waiting] = [:]
    /// Nil where there are no levels.
    private var aging: Aging<DropPath>?

    init(by order: ReadyLine.Order, turns: FairOrder, aging: Duration?) {
        self.order = order
        self.turns = turns
        self.aging = aging.map { Aging(after: $0) }
    }

    var count: Int { places.count }
    var all: some Collection<ReadyLine> { lines.values }
    var paths: some Collection<DropPath> { places.keys }

    func contains(_ path: DropPath) -> Bool { places[path] != nil }

    func line(of path: DropPath) -> ReadyLine? { places[path].flatMap { lines[$0.place] } }

    func producer(of path: DropPath) -> String? { places[path]?.producer }

    /// Whether enough of its producer is under way.
    func isHeldBack(_ path: DropPath) -> Bool { places[path].map { turns.isBlocked($0.place.producer) } ?? false }

    /// That of the next drop.
    var next: ReadyLine? { turns.next.flatMap { lines[$0] } }

    mutating func block(_ producer: String) { turns.block(producer) }

    mutating func unblock(_ producer: String) { turns.unblock(producer) }

    /// Adds a drop to the line of a place.
    mutating func add(
        _ path: DropPath, _ fingerprint: Fingerprint, known: MonotonicTime, held: [GateHold], at place: FairOrder.Place
    ) {
        remove(path)
        let ticket = aging?.add(path, at: known) ?? 0
        insert(path, fingerprint, known: known, held: held, at: place, of: place.producer, ticket)
        aging?.trim(to: places.count) { Self.ages(places[$0], $1) }
    }

    private mutating func insert(
        _ path: DropPath, _ fingerprint: Fingerprint, known: MonotonicTime, held: [GateHold], at place: FairOrder.Place,
        of producer: String, _ ticket: Aging<DropPath>.Ticket
    ) {
        let joined = turns.join(place)
        places[path] = Waiting(place: joined, producer: producer, ticket: ticket)
        lines[joined, default: ReadyLine(by: order)].add(path, fingerprint, known: known, held: held)
    }

    /// `ticket`: with which it ages; 0: it does not.
    private mutating func move(_ path: DropPath, to place: FairOrder.Place, _ ticket: Aging<DropPath>.Ticket = 0) {
        guard let old = places[path], let line = lines[old.place], let drop = line.drop(path) else { return }
        remove(path)
        insert(path, drop.fingerprint, known: drop.known, held: drop.held, at: place, of: old.producer, ticket)
    }

    /// Puts a drop before or behind all others, those that come later too. Whether it is there.
    mutating func bump(_ path: DropPath, last isLast: Bool) -> Bool {
        move(path, to: FairOrder.Place(isLast ? .last : .first, of: ""))
        return places[path].map { lines[$0.place]?.bump(path, last: isLast) ?? false } ?? false
    }

    /// Nothing passes those any more that have waited for long enough.
    mutating func age(at now: MonotonicTime) {
        let due = aging?.due(at: now) { Self.ages(places[$0], $1) } ?? []
        for path in due { places[path].map { move(path, to: FairOrder.Place(.aged, of: $0.place.producer)) } }
    }

    /// Whether what waits is the drop that was meant, and ages.
    private static func ages(_ waiting: Waiting?, _ ticket: Aging<DropPath>.Ticket) -> Bool {
        waiting.map { $0.ticket == ticket && $0.place.level.ages } ?? false
    }

    /// Takes a drop out that was not its producer's turn. Whether it was there.
    @discardableResult
    mutating func remove(_ path: DropPath) -> Bool {
        guard let place = places.removeValue(forKey: path)?.place else { return false }
        turns.leave(place)
        leave(place) { _ = $0.remove(path) }
        return true
    }

    /// Takes the next drop out: its producer has had its turn.
    mutating func removeFirst() {
        guard let place = turns.next, let path = lines[place]?.first()?.path else { return }
        turns.take(place)
        places[path] = nil
        leave(place) { $0.removeFirst() }
    }

    private mutating func leave(_ place: FairOrder.Place, _ body: (inout ReadyLine) -> Void) {
        // In place: another reference would have all of it copied.
        guard var line = lines.removeValue(forKey: place) else { return }
        body(&line)
        if !line.isEmpty { lines[place] = line }
    }
}
