package import Files

/// Since when things wait, the longest first, so that those are found that have waited for long enough. Pure.
package struct Aging<Key: Sendable>: Sendable {
    /// Tells one that waits from those of the same key before it.
    package typealias Ticket = UInt64

    private struct Entry: Sendable {
        let since: MonotonicTime
        let key: Key
        let ticket: Ticket
    }

    private let limit: Duration
    private var waiting: [Entry] = []
    /// How many at the start are over.
    private var over = 0
    private var last: Ticket = 0

    /// `limit`: how long is long enough.
    package init(after limit: Duration) { self.limit = limit }

    /// How many are kept, those among them that do not wait any more.
    var count: Int { waiting.count - over }

    /// One waits from now on.
    package mutating func add(_ key: Key, at now: MonotonicTime) -> Ticket {
        last += 1
        waiting.append(Entry(since: now, key: key, ticket: last))
        return last
    }

    /// Those that have waited for long enough, once each. `isWaiting`: whether one still does.
    package mutating func due(at now: MonotonicTime, where isWaiting: (Key, Ticket) -> Bool) -> [Key] {
        var due: [Key] = []
        while over < waiting.count {
            let entry = waiting[over]
            let isThere = isWaiting(entry.key, entry.ticket)
            guard !isThere || entry.since + limit <= now else { break }
            if isThere { due.append(entry.key) }
            over += 1
        }
        if over > 1024, over > waiting.count / 2 { drop() }
        return due
    }

    /// Keeps those only that still wait, once most of them may not. `count`: how many do.
    package mutating func trim(to count: Int, where isWaiting: (Key, Ticket) -> Bool) {
        guard self.count > 2 * count + 1024 else { return }
        drop()
        waiting.removeAll { !isWaiting($0.key, $0.ticket) }
    }

    private mutating func drop() {
        waiting.removeFirst(over)
        over = 0
    }
}
