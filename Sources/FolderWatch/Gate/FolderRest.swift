import Files

/// Decides when a whole folder has come to rest: so many looks, a time apart, saw the same. Pure: times go in, and
/// whether looks agree.
struct FolderRest: Sendable {
    private let quiet: Duration
    private let samples: Int
    /// How many looks in a row saw what the last one saw.
    private var equal = 0
    /// When to look next; nil before anything was seen, and at rest.
    private(set) var nextLook: MonotonicTime?
    /// Whether it is at rest.
    private(set) var isSettled = false

    init(quiet: Duration, samples: Int) {
        self.quiet = quiet
        self.samples = samples
    }

    /// A change was seen, which is a look as well: the wait starts again.
    mutating func change(at now: MonotonicTime) {
        equal = 1
        isSettled = false
        nextLook = now + quiet
    }

    /// A look that was due; whether the folder is at rest by that.
    mutating func look(isSame: Bool, at now: MonotonicTime) -> Bool {
        guard isSame else {
            change(at: now)
            return false
        }
        equal += 1
        isSettled = equal >= samples
        nextLook = isSettled ? nil : now + quiet
        return isSettled
    }

    /// The folder cannot be looked at: later.
    mutating func postpone(to time: MonotonicTime) { nextLook = time }
}
