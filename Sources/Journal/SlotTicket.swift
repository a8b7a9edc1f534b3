/// What a worker asks for, or has: one of the slots that all nodes together have for a stage.
package struct SlotTicket: Sendable, Hashable {
    /// Grows with each of a process, and is never used again.
    package let number: Int64
    package let place: SlotPlace
    /// How many there are, as this node has it.
    package let most: Int

    package init(number: Int64, place: SlotPlace, most: Int) {
        (self.number, self.place, self.most) = (number, place, most)
    }
}
