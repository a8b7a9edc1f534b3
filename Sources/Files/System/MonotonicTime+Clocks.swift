package import Platform

extension MonotonicTime {
    /// The clock that stands still during suspend.
    package static var uptime: clockid_t {
        #if canImport(Darwin)
            CLOCK_UPTIME_RAW
        #else
            CLOCK_MONOTONIC
        #endif
    }

    /// The clock that continues during suspend.
    package static var bootTime: clockid_t {
        #if canImport(Darwin)
            CLOCK_MONOTONIC_RAW
        #else
            CLOCK_BOOTTIME
        #endif
    }
}
