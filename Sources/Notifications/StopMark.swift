import Files
import Synchronization

/// Whether it is over, or when it will be, for what runs meanwhile.
final class StopMark: Sendable {
    /// In nanoseconds of the monotonic clock.
    private let end = Atomic(MonotonicTime.distantFuture.nanoseconds)

    var isSet: Bool { MonotonicTime.now().nanoseconds >= end.load(ordering: .relaxed) }

    /// It is over then at the latest.
    func set(at time: MonotonicTime = .now()) { end.min(time.nanoseconds, ordering: .relaxed) }
}
