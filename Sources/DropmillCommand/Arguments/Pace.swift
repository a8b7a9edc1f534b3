import ArgumentParser
import Files
import Glibc

/// How fast a verb goes through many jobs.
struct Pace: Sendable, Equatable {
    /// From one to the next.
    let interval: Duration
    private var next: MonotonicTime?

    init(interval: Duration) { self.interval = interval }

    /// `10/s`, `100/m` or `500/h`.
    @Sendable init(argument text: String) throws {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        let units: [Substring: Int64] = ["s": 1, "m": 60, "min": 60, "h": 3600]
        guard parts.count == 2, let count = Int64(parts[0]), (1...1_000_000).contains(count),
            let seconds = units[parts[1]]
        else {
            throw ValidationError("'\(text)' is not a rate; write how many within a time, such as 10/s, 100/m or 500/h")
        }
        self.init(interval: .seconds(seconds) / count)
    }

    /// Waits until the next one may be begun.
    mutating func wait() {
        let now = MonotonicTime.now()
        let begin = max(next ?? now, now)
        next = begin + interval
        let rest = (begin - now).components
        var time = timespec(tv_sec: Int(rest.seconds), tv_nsec: Int(rest.attoseconds / 1_000_000_000))
        var left = timespec()
        while nanosleep(&time, &left) != 0, errno == EINTR { time = left }
    }
}
