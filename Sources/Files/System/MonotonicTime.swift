package import Platform

/// A point on the monotonic clock: it neither jumps nor counts while the machine is suspended (clock_gettime(2)). Waits
/// are measured on it; it means nothing in another process.
package struct MonotonicTime: Hashable, Sendable, Comparable {
    /// Nanoseconds since some point.
    package let nanoseconds: Int64

    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// Never.
    package static let distantFuture = MonotonicTime(nanoseconds: .max)

    package static func now() -> MonotonicTime { MonotonicTime(nanoseconds: read(uptime)) }

    /// Processor time that the calling thread has used: what something costs, however busy the machine is.
    package static func spentByThread() -> Duration { .nanoseconds(read(CLOCK_THREAD_CPUTIME_ID)) }

    package static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// Earlier first.
    package static func < (left: MonotonicTime, right: MonotonicTime) -> Bool { left.nanoseconds < right.nanoseconds }

    /// So much later.
    package static func + (time: MonotonicTime, duration: Duration) -> MonotonicTime {
        MonotonicTime(nanoseconds: time.nanoseconds + duration.nanoseconds)
    }

    /// So much earlier.
    package static func - (time: MonotonicTime, duration: Duration) -> MonotonicTime {
        MonotonicTime(nanoseconds: time.nanoseconds - duration.nanoseconds)
    }

    /// From the other to this one.
    package static func - (left: MonotonicTime, right: MonotonicTime) -> Duration {
        .nanoseconds(left.nanoseconds - right.nanoseconds)
    }
}
