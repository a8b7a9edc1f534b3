import Files
import Readiness

/// Looks at folders that take longer than a time slice: each continues for one slice at its turn, while others are
/// examined, claimed and reported. The rest gets a place in order of request. A value of the
/// intake.
struct LongLooks {
    struct Underway {
        let path: DropPath
        /// Whether it may be the one that finds the drop complete.
        let deciding: Bool
        let look: TreeLook
        /// Processor time that it took so far.
        var cost = Duration.zero
        /// Whether it has its place.
        fileprivate(set) var isIn = false
    }

    /// In the order of their turns.
    private var looks: [Underway] = []
    /// Drops whose looks start over once there is room, in order of request.
    private var line: [DropPath] = []

    /// How many there may be: each has its folders open.
    static let most = 4

    var isEmpty: Bool { looks.isEmpty }

    /// Whether one at this drop is under way.
    func contains(_ path: DropPath) -> Bool { looks.contains { $0.path == path } }

    /// Whether this drop waits for room.
    func isInLine(_ path: DropPath) -> Bool { line.dropFirst(free).contains(path) }

    /// Those in the line that there is room for by now.
    var called: [DropPath] { Array(line.prefix(free)) }

    private var free: Int { max(0, Self.most - looks.count) }

    /// Has one wait for its next turn, in its own place or in the one that it stood in line for; where there is none,
    /// it stands in line. Whether there was room.
    mutating func add(_ look: Underway) -> Bool {
        let place = line.firstIndex(of: look.path)
        guard look.isIn || place ?? line.count < free else {
            if place == nil { line.append(look.path) }
            return false
        }
        if let place { line.remove(at: place) }
        var look = look
        look.isIn = true
        looks.append(look)
        return true
    }

    /// The one whose turn it is, taken out.
    mutating func next() -> Underway? { looks.isEmpty ? nil : looks.removeFirst() }

    /// The drop is gone, or its look is over.
    mutating func forget(_ path: DropPath) {
        looks.removeAll { $0.path == path }
        line.removeAll { $0 == path }
    }
}
