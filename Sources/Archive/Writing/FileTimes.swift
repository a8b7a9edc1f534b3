import CLinux
import Glibc
import SystemPackage

enum FileTimes {
    /// The time now: nothing that is extracted is from later.
    static func now() -> timespec {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return now
    }

    /// A time, or now where it lies ahead.
    static func clamp(_ time: timespec, to now: timespec) -> timespec {
        (time.tv_sec, time.tv_nsec) < (now.tv_sec, now.tv_nsec) ? time : now
    }

    /// The pair that utimensat(2) takes: no change (UTIME_OMIT) for the time of the last access.
    static func pair(_ modified: timespec) -> [timespec] {
        [timespec(tv_sec: 0, tv_nsec: (1 << 30) - 2), modified]
    }
}
