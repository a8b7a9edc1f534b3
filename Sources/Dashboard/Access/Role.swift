/// What somebody may do, each more than the one before.
package enum Role: String, Sendable, Codable, CaseIterable, Comparable {
    /// Sees everything.
    case look
    /// Sends files in, too.
    case drop
    /// Changes everything, too.
    case operate

    package static func < (left: Role, right: Role) -> Bool { left.rank < right.rank }

    private var rank: Int {
        switch self {
        case .look: 0
        case .drop: 1
        case .operate: 2
        }
    }

    /// What it may, for a sentence.
    package var text: String {
        switch self {
        case .look: "look"
        case .drop: "look and drop"
        case .operate: "do everything"
        }
    }
}
