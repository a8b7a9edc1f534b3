import Files
import PipelineKit

/// Until when claims have to wait so that an order holds: among all drops that were due to be looked at when something
/// was to be claimed first. What becomes due meanwhile is no reason to wait, or drops that come without end would keep
/// all from being claimed. Pure.
struct ClaimOrder {
    private let isAmongAll: Bool
    /// Since when claims wait.
    private var since: MonotonicTime?

    init(_ order: Pipeline.Order) { isAmongAll = order != .arrival }

    /// Whether all that was due has been looked at, so that claims may follow; `nextDue`: when the next look is due.
    mutating func holds(nextDue: MonotonicTime?, at now: MonotonicTime) -> Bool {
        let begun = since ?? now
        let isOpen = isAmongAll && nextDue.map { $0 <= begun } ?? false
        since = isOpen ? begun : nil
        return !isOpen
    }
}
