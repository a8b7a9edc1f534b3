import Platform

/// A point in wall-clock time, to the nanosecond. For people and records; waits are measured on the monotonic clock.
package struct Timestamp: Hashable, Sendable, Comparable, Codable {
    /// Nanoseconds since 1970-01-01T00:00:00Z, leap seconds not counted (clock_gettime(2)).
    package let nanoseconds: Int64

    /// A point so many nanoseconds after the epoch.
    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// A point in the two parts that timespec(3type) has. Beyond the years 1677 and 2262 the nearest that there is: a
    /// file's times can be set to anything.
    package init(seconds: Int, nanoseconds: Int) {
        let (whole, overflow) = Int64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, beyond) = whole.addingReportingOverflow(Int64(nanoseconds))
        self.init(nanoseconds: overflow || beyond ? (seconds < 0 ? .min : .max) : sum)
    }

    /// Now, as the system's clock says.
    package static func now() -> Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(seconds: time.tv_sec, nanoseconds: time.tv_nsec)
    }

    /// Milliseconds since the epoch.
    package var milliseconds: Int64 { nanoseconds / 1_000_000 }

    /// Earlier first.
    package static func < (left: Timestamp, right: Timestamp) -> Bool { left.nanoseconds < right.nanoseconds }

    /// From the other to this one.
    package static func - (left: Timestamp, right: Timestamp) -> Duration {
        .nanoseconds(left.nanoseconds) - .nanoseconds(right.nanoseconds)
    }

    /// In UTC, to the millisecond: `2026-03-01T12:30:00.250Z` (RFC 3339).
    package var iso8601: String {
        let (parts, nanoseconds) = parts(utc: true)
        // Every log line has one, and strftime(3) would read its format each time.
        return String(unsafeUninitializedCapacity: 24) { text in
            var place = 0
            func put(_ value: Int32, digits: Int, _ end: UInt8) {
                var rest = value
                for index in stride(from: place + digits - 1, through: place, by: -1) {
                    text[index] = UInt8(ascii: "0") + UInt8(rest % 10)
                    rest /= 10
                }
                text[place + digits] = end
                place += digits + 1
            }
            put(parts.tm_year + 1900, digits: 4, UInt8(ascii: "-"))
            put(parts.tm_mon + 1, digits: 2, UInt8(ascii: "-"))
            put(parts.tm_mday, digits: 2, UInt8(ascii: "T"))
            put(parts.tm_hour, digits: 2, UInt8(ascii: ":"))
            put(parts.tm_min, digits: 2, UInt8(ascii: ":"))
            put(parts.tm_sec, digits: 2, UInt8(ascii: "."))
            put(nanoseconds / 1_000_000, digits: 3, UInt8(ascii: "Z"))
            return place
        }
    }

    /// As strftime(3) writes it, in local time unless `utc`.
    package func formatted(_ format: String, utc: Bool = false) -> String {
        var (parts, _) = parts(utc: utc)
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 512) { buffer in
            guard let base = buffer.baseAddress else { return "" }
            let length = strftime(base, buffer.count, format, &parts)
            return String(decoding: buffer[..<length].lazy.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
    }

    /// Its parts by the calendar and clock, to the second, and the rest of it.
    private func parts(utc: Bool) -> (tm, nanoseconds: Int32) {
        let (quotient, remainder) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        var seconds = time_t(remainder < 0 ? quotient - 1 : quotient)
        var parts = tm()
        if utc { gmtime_r(&seconds, &parts) } else { localtime_r(&seconds, &parts) }
        return (parts, Int32(remainder < 0 ? remainder + 1_000_000_000 : remainder))
    }
}
