package import Files

/// Notices that the wall clock was set. Pure: it is shown both clocks now and then.
package struct ClockWatch: Sendable {
    private var last: (wall: Timestamp, monotonic: MonotonicTime)?

    package init() {}

    /// A clock that is set to the second, or runs a little fast, is steady.
    private static let tolerance = Duration.seconds(600)

    /// Whether the wall clock went as far as the monotonic one since it was shown last.
    package mutating func isSteady(wall: Timestamp, monotonic: MonotonicTime) -> Bool {
        defer { last = (wall, monotonic) }
        guard let last else { return true }
        // After a sleep of the machine, too, the next time is soon enough.
        let (went, was) = (wall - last.wall, monotonic - last.monotonic)
        return went <= was + Self.tolerance && was <= went + Self.tolerance
    }
}
