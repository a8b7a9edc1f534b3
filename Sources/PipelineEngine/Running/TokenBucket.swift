import Files
import PipelineKit

/// How much may be taken when no more than so much may be in each time: what comes in a second can gather, or a single
/// one where that is less. Exact, since it counts in parts as small as the rate asks for. Pure.
struct TokenBucket: Sendable, Equatable {
    /// What comes in a nanosecond, and what one costs: `amount` of a time of so many nanoseconds.
    private let amount: Int128
    private let cost: Int128
    /// The most that gathers.
    private let most: Int128
    /// What is there; less than nothing where more was taken than was there.
    private var level: Int128
    private var time: MonotonicTime

    /// A bucket that is full.
    init(_ rate: LimitRule.Rate, at now: MonotonicTime) {
        amount = Int128(max(1, rate.amount))
        cost = Int128(max(1, rate.time.nanoseconds))
        most = max(cost, amount * Int128(Duration.seconds(1).nanoseconds))
        level = most
        time = now
    }

    private func level(at now: MonotonicTime) -> Int128 {
        min(most, level + Int128(max(0, now.nanoseconds &- time.nanoseconds)) * amount)
    }

    /// From when on so many may be taken; more than gather may be as soon as the bucket is full.
    func opens(for count: Int64, at now: MonotonicTime) -> MonotonicTime {
        let lack = min(most, Int128(max(0, count)) * cost) - level(at: now)
        guard lack > 0 else { return now }
        let wait = (lack + amount - 1) / amount
        return now + .nanoseconds(Int64(clamping: min(wait, Int128(Int64.max / 4))))
    }

    /// Takes so many, whether they are there or not.
    mutating func take(_ count: Int64, at now: MonotonicTime) {
        // Senders say how much a drop has, as often as they like.
        level = max(level(at: now) - Int128(max(0, count)) * cost, -Int128(Int64.max) * cost)
        time = max(time, now)
    }
}
