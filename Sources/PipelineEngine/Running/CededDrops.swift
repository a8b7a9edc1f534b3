import Files

/// Drops that another node is to take first, about in the order in which they came: where all nodes looked at all files
/// of a full inbox, each file would cost as many looks, and most claims would be lost to another one. This node takes
/// what the other did not. Pure.
struct CededDrops: Sendable {
    /// How long a drop is left to the other node at least. That one takes it within milliseconds, where it can.
    static let grace = Duration.milliseconds(500)
    /// How much later what this node would take next has to have come, so that it takes another's before that.
    static let patience = Duration.seconds(60)
    /// Of how many some are taken at random.
    static let choice = 4096

    private struct Entry: Sendable {
        let path: DropPath
        let since: MonotonicTime
    }

    private var entries: [Entry] = []
    /// How many at the start are over.
    private var over = 0

    /// Whether the time is over for which a drop is left to another node. `since`: when the drop came; `next`: when
    /// that did which this node would take otherwise; the distant future where there is none, nil where it may take
    /// none.
    static func isOver(_ since: MonotonicTime, before next: MonotonicTime?, at now: MonotonicTime) -> Bool {
        guard let next else { return false }
        return now - since >= grace && next - since >= patience
    }

    mutating func add(_ path: DropPath, since: MonotonicTime) { entries.append(Entry(path: path, since: since)) }

    /// Takes those out whose time is over: any of the oldest, since other nodes are at them, too. Some may be gone
    /// meanwhile.
    mutating func take(before next: MonotonicTime?, at now: MonotonicTime, limit: Int) -> [DropPath] {
        let oldest = entries[over...].prefix(Self.choice)
            .prefix { Self.isOver($0.since, before: next, at: now) }.indices
        guard !oldest.isEmpty else { return [] }
        entries[oldest].shuffle()
        let taken = entries[oldest].prefix(limit).map(\.path)
        over += taken.count
        if over > 1024, over > entries.count / 2 { drop() }
        return taken
    }

    /// When the next one's time is over; nil where this node has something to do before.
    func nextDue(before next: MonotonicTime?) -> MonotonicTime? {
        guard over < entries.count, let next, next - entries[over].since >= Self.patience else { return nil }
        return entries[over].since + Self.grace
    }

    /// Takes those out of which the body says so.
    mutating func removeAll(where isOver: (DropPath) -> Bool) {
        drop()
        entries.removeAll { isOver($0.path) }
    }

    private mutating func drop() {
        entries.removeFirst(over)
        over = 0
    }
}
