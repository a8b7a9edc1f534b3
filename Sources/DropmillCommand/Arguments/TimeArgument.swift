import ArgumentParser
import Files

/// Durations and times on the command line.
enum TimeArgument {
    /// A duration such as `30s`.
    @Sendable static func duration(_ text: String) throws -> Duration {
        guard let duration = Duration(configured: text) else {
            throw ValidationError(
                "'\(text)' is not a duration; write a number and a unit, such as 30s, 5m or 90d (36500d at most)")
        }
        return duration
    }

    /// How long jobs are kept that are over: as `history` in `dropmill.yaml` takes it.
    @Sendable static func history(_ text: String) throws -> Duration {
        let duration = try duration(text)
        guard duration >= .seconds(60) else {
            throw ValidationError(
                "'\(text)' is too short to see what became of a job; give at least 1m (for ever: 36500d)")
        }
        return duration
    }

    /// One that begins now, and does not end at once: clocks that people read tell seconds.
    @Sendable static func ahead(_ text: String) throws -> Duration {
        let duration = try duration(text)
        guard duration >= .seconds(1) else {
            throw ValidationError("'\(text)' would be over at once; give a longer time, such as 30m or 2h")
        }
        return duration
    }

    /// A past time: an age (`2h`, `2h ago`), or a date in local time, with or without a time of day.
    @Sendable static func past(_ text: String) throws -> Timestamp {
        guard let time = Timestamp(past: text) else {
            throw ValidationError(
                "'\(text)' is not a time; write how long ago (2h, 7d) or a date (2026-11-01, 2026-11-01T14:30)")
        }
        return time
    }
}
