package import Files

/// Drops that are complete and wait to be claimed, next first: in one line, or shared by levels and producers where a
/// pipeline asks for that. Pure.
package struct ReadyQueue: Sendable {
    /// All of them, where nobody shares.
    private var line: ReadyLine
    private var shared: FairLines?

    /// A queue that is empty, in which nobody shares.
    package init(by order: ReadyLine.Order) { line = ReadyLine(by: order) }

    /// A queue that is empty and shared. `aging`: after how long nothing passes a drop any more; nil: there are no
    /// levels.
    package init(by order: ReadyLine.Order, turns: FairOrder, aging: Duration?) {
        self.init(by: order)
        shared = FairLines(by: order, turns: turns, aging: aging)
    }

    // MARK: What waits

    /// How many wait.
    package var count: Int { shared?.count ?? line.count }

    /// Whether none waits.
    package var isEmpty: Bool { count == 0 }

    /// Whether the drop waits.
    package func contains(_ path: DropPath) -> Bool { shared?.contains(path) ?? line.contains(path) }

    /// Since when the drop is known, to 4 ms; nil where it does not wait.
    package func known(_ path: DropPath) -> MonotonicTime? {
        shared.map { $0.line(of: path)?.known(path) } ?? line.known(path)
    }

    /// The bytes of one; nil where it does not wait.
    package func size(of path: DropPath) -> Int64? {
        shared.map { $0.line(of: path)?.size(of: path) } ?? line.size(of: path)
    }

    /// Since when the one is known that is known for longest; nil where none waits.
    package var oldest: MonotonicTime? { lines.compactMap(\.oldest).min() }

    /// How many bytes all of them have. Senders choose their sizes.
    package var bytes: Int64 { lines.reduce(0) { $0.addingSaturated($1.bytes) } }

    /// Calls the body with each that waits, since when it is known, and its bytes; in no order.
    package func forEach(_ body: (DropPath, MonotonicTime, Int64) -> Void) { for line in lines { line.forEach(body) } }

    /// Some of the waiting entries, in no order.
    package func some(_ limit: Int) -> [DropPath] { shared.map { Array($0.paths.prefix(limit)) } ?? line.some(limit) }

    private var lines: [ReadyLine] { shared.map { Array($0.all) } ?? [line] }

    // MARK: Whose it is

    /// Whether the drop waits until something of its producer is over.
    package func isHeldBack(_ path: DropPath) -> Bool { shared?.isHeldBack(path) ?? false }

    /// Whose a drop is that waits; nil where nobody shares.
    package func producer(of path: DropPath) -> String? { shared?.producer(of: path) }

    /// Nothing of the producer is taken until it is unblocked.
    package mutating func block(_ producer: String) { shared?.block(producer) }

    /// What waits of it may be taken again.
    package mutating func unblock(_ producer: String) { shared?.unblock(producer) }

    // MARK: Coming and going

    /// Adds a drop in the state in which it was found complete. `known`: since when it waits; `held`: what held it;
    /// `place`: where it waits, if it is shared.
    package mutating func add(
        _ path: DropPath, _ fingerprint: Fingerprint, known: MonotonicTime = .now(), held: [GateHold] = [],
        at place: FairOrder.Place? = nil
    ) {
        let place = place ?? FairOrder.Place(.usual, of: "")
        if shared?.add(path, fingerprint, known: known, held: held, at: place) == nil {
            line.add(path, fingerprint, known: known, held: held)
        }
    }

    /// Puts a drop before or behind all others, those that come later too. Whether it is there.
    package mutating func bump(_ path: DropPath, last isLast: Bool) -> Bool {
        shared?.bump(path, last: isLast) ?? line.bump(path, last: isLast)
    }

    /// Nothing passes those any more that have waited for long enough.
    package mutating func age(at now: MonotonicTime) { shared?.age(at: now) }

    /// Takes a drop out: it is gone, or not complete any more. Whether it was there.
    @discardableResult
    package mutating func remove(_ path: DropPath) -> Bool { shared?.remove(path) ?? line.remove(path) }

    /// The next drop, which stays; nil where none waits, or all wait until something of their producers is over.
    package func first() -> (path: DropPath, fingerprint: Fingerprint)? {
        shared.map { $0.next?.first() } ?? line.first()
    }

    /// Since when the next drop is known, and what held it until it was complete.
    package var firstArrival: (known: MonotonicTime, held: [GateHold])? {
        shared.map { $0.next?.firstArrival } ?? line.firstArrival
    }

    /// Takes the next drop out: its producer has had its turn.
    package mutating func removeFirst() { if shared?.removeFirst() == nil { line.removeFirst() } }
}
