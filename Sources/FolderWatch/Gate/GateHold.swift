package import Files

/// What held a candidate for a while, and how long in all.
package struct GateHold: Sendable, Equatable {
    /// The latest that was said of it.
    package var waiting: Waiting
    /// When it began first.
    package let since: MonotonicTime
    package var time: Duration

    package init(waiting: Waiting, since: MonotonicTime, time: Duration) {
        self.waiting = waiting
        self.since = since
        self.time = time
    }
}
