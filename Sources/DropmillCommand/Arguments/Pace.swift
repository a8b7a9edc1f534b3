import ArgumentParser
import Files

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

    /// How long the next one is to wait, which is begun then.
    mutating func rest(at now: MonotonicTime = .now()) -> Duration {
        let begin = max(next ?? now, now)
        next = begin + interval
        return begin - now
    }
}
