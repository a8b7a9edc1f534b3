import TestSupport
import Testing

/// What a mill stands on, and which way its small drops go: what is true of one file system, or of the quick lane, need
/// not be true of another, or of the usual way.
struct Ground: Sendable, CustomTestStringConvertible {
    /// A disk of its own, whose power can be cut; nil: a folder of whatever disk there is.
    let disk: DiskImage.Kind?
    /// Whether there is a quick lane.
    let hasLane: Bool

    /// A pipeline with an order has no lane.
    var rules: [String] { hasLane ? [] : ["order: name"] }

    var isPossible: Bool { disk?.isPossible ?? true }

    var testDescription: String { "\(disk?.rawValue ?? "folder"), \(hasLane ? "quick lane" : "usual way")" }

    /// All but a folder with a lane, which each suite begins with.
    static let others =
        [Ground(disk: nil, hasLane: false)]
        + DiskImage.Kind.allCases.flatMap { kind in [true, false].map { Ground(disk: kind, hasLane: $0) } }

    /// All disks.
    static let disks = others.filter { $0.disk != nil }

    /// Each of these on each ground; in the short form each on one, and every ground in turn.
    static func spread<Case>(_ cases: [Case], over grounds: [Ground] = others) -> [(Case, Ground)] {
        guard !Torture.isLong else { return cases.flatMap { one in grounds.map { (one, $0) } } }
        return cases.enumerated().map { ($0.element, grounds[$0.offset % grounds.count]) }
    }
}
