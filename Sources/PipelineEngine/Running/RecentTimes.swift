/// How long the last runs of something took. Pure.
package struct RecentTimes: Sendable, Equatable {
    /// How many are kept.
    package static let most = 63

    private var times: [Duration] = []
    /// The place of the oldest, once there are as many as are kept.
    private var oldest = 0

    package init() {}

    package mutating func add(_ time: Duration) {
        guard times.count == Self.most else { return times.append(time) }
        times[oldest] = time
        oldest = (oldest + 1) % Self.most
    }

    /// Half of them took no longer; nil where there were none.
    package var median: Duration? { times.isEmpty ? nil : times.sorted()[(times.count - 1) / 2] }
}
