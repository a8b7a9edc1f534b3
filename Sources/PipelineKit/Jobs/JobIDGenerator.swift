package import Files
import Synchronization

/// Makes ids that sort in the order they are asked for, also within a millisecond and when the clock is set back.
package final class JobIDGenerator: Sendable {
    private struct Last {
        var milliseconds: UInt64 = 0
        var high: UInt16 = 0
        var low: UInt64 = 0
    }

    private let last = Mutex(Last())

    package init() {}

    /// The next id.
    package func next(at time: Timestamp = .now()) -> JobID {
        last.withLock { last in
            let milliseconds = UInt64(max(0, time.milliseconds))
            if milliseconds > last.milliseconds {
                // The top bit stays free, so that counting up has room.
                last = Last(
                    milliseconds: milliseconds, high: .random(in: 0...0x7FFF), low: .random(in: .min ... .max))
            } else {
                let (low, overflow) = last.low.addingReportingOverflow(1)
                last.low = low
                if overflow { last.high &+= 1 }
            }
            return JobID(milliseconds: last.milliseconds, high: last.high, low: last.low)
        }
    }
}
