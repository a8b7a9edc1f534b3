/// How often and how soon a transient failure is tried again.
package struct RetryPolicy: Sendable, Hashable {
    /// Runs of one stage in all, the first included.
    package var attempts: Int
    /// The wait before the second run; it doubles from run to run.
    package var backoff: Duration
    /// The longest wait.
    package var maxBackoff: Duration

    /// A policy; the defaults are the contract's.
    package init(attempts: Int = 3, backoff: Duration = .seconds(2), maxBackoff: Duration = .seconds(900)) {
        self.attempts = attempts
        self.backoff = backoff
        self.maxBackoff = maxBackoff
    }

    /// The wait after so many failed runs, or nil when it is to be given up. `jitter` from 0 to 1 takes up to a quarter
    /// off, so that jobs that failed together do not come back together. `asked`: no less than that, if the longest
    /// wait allows it; there the quarter is put on.
    package func delay(afterFailures failures: Int, jitter: Double, asked: Duration? = nil) -> Duration? {
        guard failures < attempts else { return nil }
        let share = 0.25 * min(max(jitter, 0), 1)
        let doubled = backoff.seconds * Double(1 << min(max(failures - 1, 0), 40))
        let own = min(doubled, maxBackoff.seconds) * (1 - share)
        let others = min((asked ?? .zero).seconds * (1 + share), maxBackoff.seconds)
        return .nanoseconds(Int64(max(own, others) * 1e9))
    }
}
