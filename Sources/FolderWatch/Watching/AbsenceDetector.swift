import Files
import Platform

/// Notices that the process was away: the machine slept, the process was stopped, or the clock was set. Pure: it
/// is shown the clocks at a steady pulse and compares how far each went.
package struct AbsenceDetector: Sendable {
    /// The clocks at one moment, in nanoseconds.
    package struct Clocks: Sendable {
        /// Stands still during suspend.
        package var monotonic: Int64
        /// Continues during suspend.
        package var boot: Int64
        /// The wall clock, which can be set.
        package var wall: Int64

        package init(monotonic: Int64, boot: Int64, wall: Int64) {
            self.monotonic = monotonic
            self.boot = boot
            self.wall = wall
        }

        /// The clocks now.
        package static func now() -> Clocks {
            Clocks(
                monotonic: MonotonicTime.read(MonotonicTime.uptime), boot: MonotonicTime.read(MonotonicTime.bootTime),
                wall: MonotonicTime.read(CLOCK_REALTIME))
        }
    }

    private let pulse: Int64
    private let tolerance: Int64
    private var last: Clocks

    /// A detector that is to be shown the clocks once a pulse; gaps below the tolerance count as none.
    package init(pulse: Duration, tolerance: Duration = .seconds(2), starting clocks: Clocks) {
        self.pulse = pulse.nanoseconds
        self.tolerance = tolerance.nanoseconds
        last = clocks
    }

    /// Whether the process was away, or the clock was set, since the clocks were last shown.
    package mutating func wasAway(_ clocks: Clocks) -> Bool {
        defer { last = clocks }
        let monotonic = clocks.monotonic - last.monotonic
        let stopped = monotonic > pulse + tolerance
        let suspended = (clocks.boot - last.boot) - monotonic > tolerance
        let set = abs((clocks.wall - last.wall) - (clocks.boot - last.boot)) > tolerance
        return stopped || suspended || set
    }
}
