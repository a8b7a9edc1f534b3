import Files
import Synchronization

/// How fast originals are removed, over all folders: no disk is to be busy with that.
final class PrunePace: Sendable {
    /// One is removed in so long, 200 a second, or looked at: 5,000 a second.
    private static let time = (removed: Duration.milliseconds(5), looked: Duration.microseconds(200))

    private let next = Mutex(MonotonicTime.now())

    /// After how long the next may go on.
    func delay(removed: Int, looked: Int, at now: MonotonicTime = .now()) -> Duration {
        next.withLock { next in
            next = max(next, now) + max(Self.time.removed * removed, Self.time.looked * looked)
            return next - now
        }
    }
}
