import Files

/// When a file system is about to have less room than a pipeline wants: before anything stops.
package enum LowSpace {
    /// Whether it is that. One that was has to have a little more before it is not, so that a file more or less is not
    /// told again and again.
    package static func isLow(free: UInt64, floor: UInt64, wasLow: Bool) -> Bool {
        let limit = floor.multipliedSaturated(by: 2)
        return free < (wasLow ? limit.addingSaturated(floor / 4) : limit)
    }
}
