import Files

/// How many refusals go on record: whoever is refused again and again is not to fill the journal. Pure.
struct RefusalBudget {
    /// How many at once, and how long until there is one more: some thousand a day.
    static let most = 20
    static let pause = Duration.seconds(90)

    private var left = most
    private var since: MonotonicTime?
    private var skipped = 0

    /// How many were left out since the last one that was admitted; nil where this one is left out, too.
    mutating func admit(at now: MonotonicTime) -> Int? {
        let begin = since ?? now
        let more = (now - begin).nanoseconds / Self.pause.nanoseconds
        if more >= Int64(Self.most - left) {
            (left, since) = (Self.most, now)
        } else {
            left += Int(max(0, more))
            since = begin + Self.pause * Int(max(0, more))
        }
        guard left > 0 else {
            skipped += 1
            return nil
        }
        left -= 1
        defer { skipped = 0 }
        return skipped
    }
}
