import Files
import PipelineKit

/// How many things took how long: counts that only grow, in classes whose bounds never change, so that what several
/// runs of the daemon measured adds up.
package struct Histogram: Sendable, Equatable {
    /// The longest time of each class, in seconds; one more class has what took longer.
    package static let bounds: [Double] = [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 60, 300, 900, 3600]

    /// How many are in each class.
    package private(set) var counts = [UInt64](repeating: 0, count: bounds.count + 1)
    /// All times together.
    package private(set) var sum = Duration.zero

    package init() {}

    /// How many there are.
    package var count: UInt64 { counts.reduce(0, &+) }

    /// Counts one. A clock that was set back in between makes no time negative.
    package mutating func add(_ time: Duration) {
        let seconds = max(0, time.seconds)
        let place = Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count
        counts[place] &+= 1
        sum = .nanoseconds(sum.nanoseconds.addingSaturated(max(0, time.nanoseconds)))
    }
}

extension Histogram {
    /// The sum in nanoseconds, then the counts.
    func write(_ key: String?, to json: inout JSONText) {
        json.array(key) { json in
            json.integer(nil, sum.nanoseconds)
            for count in counts { json.integer(nil, count) }
        }
    }

    /// Nil where it is none of these.
    init?(_ value: JSONValue) {
        guard let numbers = value.array, numbers.count == Self.bounds.count + 2,
            let sum: Int64 = numbers[0].integer(), sum >= 0
        else { return nil }
        let counts = numbers.dropFirst().compactMap { $0.integer(UInt64.self) }
        guard counts.count == Self.bounds.count + 1 else { return nil }
        self.sum = .nanoseconds(sum)
        self.counts = counts
    }
}
