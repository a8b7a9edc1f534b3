/// Who has the slots of a stage, and who waits for one.
package struct SlotUse: Sendable, Equatable {
    package let place: SlotPlace
    /// How many there are.
    package let most: Int
    /// How many each node has, and how many of its workers wait for one, by the nodes' names.
    package let taken: [String: Int]
    package let waiting: [String: Int]

    package init(_ place: SlotPlace, most: Int, taken: [String: Int], waiting: [String: Int]) {
        (self.place, self.most, self.taken, self.waiting) = (place, most, taken, waiting)
    }

    /// Who waits for what, and why: `mill-2 waits for one of 4 slots that all nodes have for 'unpack': mill-1 has 4`;
    /// nil where nobody does.
    package var text: String? {
        guard !waiting.isEmpty else { return nil }
        let slots = most == 1 ? "the only slot" : "one of \(most) slots"
        return "\(waiting.keys.sorted().joined(separator: ", ")) \(waiting.count == 1 ? "waits" : "wait") for \(slots) "
            + "that all nodes have for '\(place.stage)'" + (taken.isEmpty ? "" : ": \(holders)")
    }

    private var holders: String {
        taken.sorted { $0.key < $1.key }.map { "\($0.key) has \($0.value)" }.joined(separator: ", ")
    }
}
