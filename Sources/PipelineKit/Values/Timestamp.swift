import Glibc

/// A point in wall-clock time, to the nanosecond. For people and records; waits are measured on the monotonic clock.
package struct Timestamp: Hashable, Sendable, Comparable {
    /// Nanoseconds since 1970-01-01T00:00:00Z, leap seconds not counted (clock_gettime(2)).
    package let nanoseconds: Int64

    /// A point so many nanoseconds after the epoch.
    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// A point in the two parts that timespec(3type) has. Beyond the years 1677 and 2262 the nearest that there is: a
    /// file's times are whatever somebody set them to.
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
        let millis = Int(((nanoseconds % 1_000_000_000) + 1_000_000_000) % 1_000_000_000 / 1_000_000)
        let digits = String(millis)
        return formatted("%Y-%m-%dT%H:%M:%S", utc: true) + "." + String(repeating: "0", count: 3 - digits.count)
            + digits + "Z"
    }

    /// As strftime(3) writes it, in local time unless `utc`.
    package func formatted(_ format: String, utc: Bool = false) -> String {
        var seconds = time_t(nanoseconds / 1_000_000_000)
        if nanoseconds < 0, nanoseconds % 1_000_000_000 != 0 { seconds -= 1 }
        var parts = tm()
        if utc { gmtime_r(&seconds, &parts) } else { localtime_r(&seconds, &parts) }
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 512) { buffer in
            guard let base = buffer.baseAddress else { return "" }
            let length = strftime(base, buffer.count, format, &parts)
            return String(decoding: buffer[..<length].lazy.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
    }
}
