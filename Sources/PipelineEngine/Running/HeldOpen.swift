import Files

/// Drops held open for long: reported after ten minutes, then each hour. Pure.
struct HeldOpen<Key: Hashable> {
    private struct Known {
        let since: MonotonicTime
        var told: MonotonicTime?
    }

    private var known: [Key: Known] = [:]

    static var first: Duration { .seconds(600) }
    static var again: Duration { .seconds(3600) }

    /// It was seen held open. For how long it has been, if that is to be told now.
    mutating func saw(_ key: Key, at now: MonotonicTime) -> Duration? {
        let found = known[key] ?? Known(since: now)
        known[key] = found
        guard now - found.since >= Self.first, found.told.map({ now - $0 >= Self.again }) ?? true else { return nil }
        known[key]?.told = now
        return now - found.since
    }

    /// It was seen otherwise, or is gone.
    mutating func ended(_ key: Key) {
        if !known.isEmpty { known[key] = nil }
    }
}
