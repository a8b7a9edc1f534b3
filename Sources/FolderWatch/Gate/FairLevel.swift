/// Before what something comes that waits. Pure.
package struct FairLevel: Hashable, Comparable, Sendable {
    /// 0 comes first.
    let rank: UInt8

    /// What a person put before all others.
    package static let first = FairLevel(rank: 0)
    /// What has waited for so long that nothing else may pass it.
    package static let aged = FairLevel(rank: 1)
    /// What no rule speaks of.
    package static let usual = FairLevel(priority: 0)
    /// What a person put behind all others.
    package static let last = FairLevel(rank: UInt8(3 + priorities.upperBound - priorities.lowerBound))

    /// What rules can say.
    package static let priorities = -100...100

    private init(rank: UInt8) { self.rank = rank }

    /// Of a rule: the greatest comes first.
    package init(priority: Int) {
        let priority = min(max(priority, Self.priorities.lowerBound), Self.priorities.upperBound)
        rank = UInt8(2 + Self.priorities.upperBound - priority)
    }

    /// Whether it ages: what a person said does not.
    package var ages: Bool { self > .aged && self < .last }

    package static func < (left: FairLevel, right: FairLevel) -> Bool { left.rank < right.rank }
}
