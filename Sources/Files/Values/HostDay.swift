/// A day as the clocks of a zone show it: from midnight to midnight, which is 23 to 25 hours. Pure.
package struct HostDay: Sendable, Equatable {
    /// Its first second, and the first one of the next day: since 1970.
    package let begin: Int64, end: Int64

    /// Longer than any day.
    private static let reach: Int64 = 50 * 3600

    /// The day of a time. `offset`: how many seconds the zone is east of UTC then.
    package init(of time: Timestamp, offset: (_ seconds: Int64) -> Int) {
        func date(_ second: Int64) -> Int64 { (second + Int64(offset(second))).floored(by: 86_400) }
        /// The first second behind `early`, and at `late` at the latest, of which that holds; it does of `late`.
        func first(after early: Int64, upTo late: Int64, where holds: (Int64) -> Bool) -> Int64 {
            var (early, late) = (early, late)
            while late - early > 1 {
                let middle = early + (late - early) / 2
                if holds(middle) { late = middle } else { early = middle }
            }
            return late
        }
        let second = time.nanoseconds.floored(by: 1_000_000_000)
        let today = date(second)
        begin = first(after: second - Self.reach, upTo: second) { date($0) >= today }
        end = first(after: second, upTo: second + Self.reach) { date($0) > today }
    }

    package func contains(_ time: Timestamp) -> Bool {
        (begin..<end).contains(time.nanoseconds.floored(by: 1_000_000_000))
    }

    /// When it begins.
    package var start: Timestamp { Timestamp(seconds: Int(begin), nanoseconds: 0) }
}

extension Int64 {
    /// Divided and rounded down, also where it is negative.
    package func floored(by divisor: Int64) -> Int64 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
