import Platform

extension Timestamp {
    /// A past time as people write it: an age (`2h`, `2h ago`), or a date in local time, with or without a time of day;
    /// in UTC with a `Z` behind it. Nil for other texts.
    package init?(past text: String, at now: Timestamp = .now()) {
        let suffix = " ago"
        let age = text.hasSuffix(suffix) ? String(text.dropLast(suffix.count)) : text
        if let ago = Duration(configured: age) {
            self.init(nanoseconds: now.nanoseconds - ago.nanoseconds)
        } else {
            guard let time = Self.date(text) else { return nil }
            self = time
        }
    }

    /// `2026-11-01`, with `T14:30` or `T14:30:05` behind it; a space may stand for the T.
    private static func date(_ given: String) -> Timestamp? {
        let isUTC = given.last == "Z"
        let text = isUTC ? given.dropLast() : given[...]
        let halves = text.split(separator: "T", maxSplits: 1).flatMap { $0.split(separator: " ", maxSplits: 1) }
        guard let days = halves.first.flatMap({ numbers($0, separator: "-") }), days.count == 3 else { return nil }
        guard (1970...2200).contains(days[0]), (1...12).contains(days[1]), (1...31).contains(days[2]) else {
            return nil
        }
        var clock = [0, 0, 0]
        if halves.count > 1 {
            // What is smaller than a second makes no difference to people.
            let time = halves[1].prefix { $0 != "." }
            guard halves.count == 2, let given = numbers(time, separator: ":"), (2...3).contains(given.count)
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
        let seconds = isUTC ? timegm(&parts) : mktime(&parts)
        // The 31st of a short month has become the 1st of the next one.
        return Int(parts.tm_mday) == days[2] ? Timestamp(seconds: seconds, nanoseconds: 0) : nil
    }

    private static func numbers(_ text: Substring, separator: Character) -> [Int]? {
        let parts = text.split(separator: separator, omittingEmptySubsequences: false)
        let isPlain = parts.allSatisfy { (1...4).contains($0.count) && $0.allSatisfy { $0.isASCII && $0.isNumber } }
        return isPlain ? parts.compactMap { Int($0) } : nil
    }
}
