package import Files

/// What was noted in each of the last 60 minutes of the clock. Pure.
package struct MinuteBuckets<Value: Sendable & Equatable>: Sendable, Equatable {
    package static var count: Int { 60 }

    private let empty: Value
    /// A minute's is at its number modulo `count`.
    private var values: [Value]
    /// The number of the newest one that something was noted in, counted from 1970; nil where there was none.
    private var newest: Int64?

    package init(empty: Value) {
        self.empty = empty
        values = Array(repeating: empty, count: Self.count)
    }

    /// Changes that of a time. Times may come out of order by less than an hour; where one is older than all that is
    /// kept the clock was set back, and all begins anew.
    package mutating func note(at time: Timestamp, _ change: (inout Value) -> Void) {
        let minute = Self.minute(of: time)
        let passed = minute - (newest ?? .min / 2)
        if passed > 0 || passed <= -Int64(Self.count) {
            let skipped = (1...Int64(Self.count)).contains(passed) ? passed : Int64(Self.count)
            for before in 0..<skipped { values[Self.place(of: minute - before)] = empty }
            newest = minute
        }
        change(&values[Self.place(of: minute)])
    }

    /// Those of the minutes up to that of a time, the oldest first.
    package func values(at time: Timestamp) -> [Value] {
        guard let newest else { return values }
        let last = Self.minute(of: time)
        return (last - Int64(Self.count) + 1...last).map { minute in
            minute <= newest && minute > newest - Int64(Self.count) ? values[Self.place(of: minute)] : empty
        }
    }

    /// When the minute of a time begins.
    package static func beginning(of time: Timestamp) -> Timestamp {
        Timestamp(seconds: Int(minute(of: time) * 60), nanoseconds: 0)
    }

    private static func minute(of time: Timestamp) -> Int64 { time.nanoseconds.floored(by: 60_000_000_000) }

    private static func place(of minute: Int64) -> Int {
        Int(minute - minute.floored(by: Int64(count)) * Int64(count))
    }
}
