/// What became of a ticket.
package struct SlotStanding: Sendable, Hashable {
    package let number: Int64
    /// Whether it has a slot; else it waits for one.
    package let isTaken: Bool
    /// Whether another node waits for one of that stage.
    package let isAwaited: Bool

    package init(number: Int64, isTaken: Bool, isAwaited: Bool) {
        (self.number, self.isTaken, self.isAwaited) = (number, isTaken, isAwaited)
    }
}
