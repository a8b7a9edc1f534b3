/// How often and how soon a transient failure is retried.
package struct RetryPolicy: Sendable, Hashable {
    /// Runs of one stage in all, the first included.
    package var attempts: Int
    /// The wait before the second run; it doubles from run to run.
    package var backoff: Duration
    /// The longest wait.
    package var maxBackoff: Duration

    /// A policy with the documented defaults.
    package init(attempts: Int = 3, backoff: Duration = .seconds(2), maxBackoff: Duration = .seconds(900)) {
        self.attempts = attempts
        self.backoff = backoff
        self.maxBackoff = maxBackoff
    }

    /// The wait after this many failed runs, or nil to give up. `jitter` from 0 to 1 subtracts up to a quarter,
    /// so that jobs that failed together are not retried together. `asked`: the minimum wait, if the longest
    /// wait allows it; then the quarter is added.
    package func delay(afterFailures failures: Int, jitter: Double, asked: Duration? = nil) -> Duration? {
        guard failures < attempts else { return nil }
        let share = 0.25 * min(max(jitter, 0), 1)
        let doubled = backoff.seconds * Double(1 << min(max(failures - 1, 0), 40))
        let own = min(doubled, maxBackoff.seconds) * (1 - share)
        let others = min((asked ?? .zero).seconds * (1 + share), maxBackoff.seconds)
        return .nanoseconds(Int64(max(own, others) * 1e9))
    }
}
