import ArgumentParser
import Files
import Glibc

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
        let suffix = " ago"
        let age = text.hasSuffix(suffix) ? String(text.dropLast(suffix.count)) : text
        if let ago = Duration(configured: age) {
            return Timestamp(nanoseconds: Timestamp.now().nanoseconds - ago.nanoseconds)
        }
        guard let time = date(text) else {
            throw ValidationError(
                "'\(text)' is not a time; write how long ago (2h, 7d) or a date (2026-11-01, 2026-11-01T14:30)")
        }
        return time
    }

    /// `2026-11-01`, with `T14:30` or `T14:30:05` behind it; a space may stand for the T.
    private static func date(_ text: String) -> Timestamp? {
        let halves = text.split(separator: "T", maxSplits: 1).flatMap { $0.split(separator: " ", maxSplits: 1) }
        guard let days = halves.first.flatMap({ numbers($0, separator: "-") }), days.count == 3 else { return nil }
        guard (1970...2200).contains(days[0]), (1...12).contains(days[1]), (1...31).contains(days[2]) else {
            return nil
        }
        var clock = [0, 0, 0]
        if halves.count > 1 {
            guard halves.count == 2, let given = numbers(halves[1], separator: ":"), (2...3).contains(given.count)
            else {
                return nil
            }
            clock = given.count == 2 ? given + [0] : given
            guard clock[0] < 24, clock[1] < 60, clock[2] < 60 else { return nil }
        }
        var parts = tm()
        parts.tm_year = Int32(days[0] - 1900)
        parts.tm_mon = Int32(days[1] - 1)
        parts.tm_mday = Int32(days[2])
        (parts.tm_hour, parts.tm_min, parts.tm_sec) = (Int32(clock[0]), Int32(clock[1]), Int32(clock[2]))
        // Whether summer time was in force is for the time zone to say.
        parts.tm_isdst = -1
        let seconds = mktime(&parts)
        // The 31st of a short month has become the 1st of the next one.
        return Int(parts.tm_mday) == days[2] ? Timestamp(seconds: seconds, nanoseconds: 0) : nil
    }

    private static func numbers(_ text: Substring, separator: Character) -> [Int]? {
        let parts = text.split(separator: separator, omittingEmptySubsequences: false)
        let isPlain = parts.allSatisfy { (1...4).contains($0.count) && $0.allSatisfy { $0.isASCII && $0.isNumber } }
        return isPlain ? parts.compactMap { Int($0) } : nil
    }
}
