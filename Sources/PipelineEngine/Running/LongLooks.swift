import PipelineKit

/// Looks at folders that take longer than a slice of time: each goes on for one at its turn, while others are looked
/// at, claimed and told of. A value of the intake.
struct LongLooks {
    /// One of them.
    struct Underway {
        let path: DropPath
        /// Whether it may be the one that finds the drop complete.
        let deciding: Bool
        let look: TreeLook
        /// Processor time that it took so far.
        var cost = Duration.zero
    }

    /// In the order of their turns.
    private var looks: [Underway] = []

    /// How many there may be: each has its folders open.
    private static let most = 4

    /// Whether none is under way.
    var isEmpty: Bool { looks.isEmpty }

    /// Whether one at this drop is under way.
    func contains(_ path: DropPath) -> Bool { looks.contains { $0.path == path } }

    /// Has one wait for its next turn; whether there is room for it.
    mutating func add(_ look: Underway) -> Bool {
        guard looks.count < Self.most else { return false }
        looks.append(look)
        return true
    }

    /// The one whose turn it is, taken out.
    mutating func next() -> Underway? { looks.isEmpty ? nil : looks.removeFirst() }

    /// The drop is gone.
    mutating func forget(_ path: DropPath) { looks.removeAll { $0.path == path } }
}
