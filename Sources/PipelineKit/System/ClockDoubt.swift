package import Files

/// Whether the wall clock may be wrong, so that nothing is to go because of it. Pure: it is shown both clocks now and
/// then.
///
/// One that jumps, or says at the start that nothing has run for a week, is believed once it has run steadily for a
/// day: who puts it right does so before.
package struct ClockDoubt: Sendable {
    private static let week = Duration.seconds(7 * 86_400), day = Duration.seconds(86_400)

    private var watch = ClockWatch()
    /// When the daemon was there before, by the wall clock.
    private var seen: Timestamp?
    private var doubtfulUntil: MonotonicTime?

    package init(seen: Timestamp?) { self.seen = seen }

    package mutating func isDoubtful(wall: Timestamp, monotonic: MonotonicTime) -> Bool {
        let isAway = seen.map { wall - $0 > Self.week || $0 - wall > Self.week } ?? false
        seen = nil
        if !watch.isSteady(wall: wall, monotonic: monotonic) || isAway { doubtfulUntil = monotonic + Self.day }
        return doubtfulUntil.map { monotonic < $0 } ?? false
    }
}
