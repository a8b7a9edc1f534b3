import Files

/// When the service manager is told that the daemon is alive: each part of it is asked once in a round, and the manager
/// is told when all of them have answered. Pure.
struct WatchdogRounds: Equatable {
    /// What the daemon cannot do without; in this order, since the engine's queue has the journal asked.
    enum Part: String, CaseIterable {
        case engine = "the engine's queue"
        case journal = "the journal"
        case signals = "the thread that waits for signals"
    }

    struct Silence: Equatable {
        let part: Part
        let time: Duration
    }

    private var begun: MonotonicTime?
    private var silent: Set<Part> = []

    /// It is time for another round. Whether all parts are to be asked: not while one is silent.
    mutating func begin(at now: MonotonicTime) -> Bool {
        guard silent.isEmpty else { return false }
        (begun, silent) = (now, Set(Part.allCases))
        return true
    }

    /// A part has answered. Whether the manager is to be told: it was the last one.
    mutating func answered(_ part: Part) -> Bool { silent.remove(part) != nil && silent.isEmpty }

    /// The first part that has not answered, and for how long; nil where all have.
    func silence(at now: MonotonicTime) -> Silence? {
        guard let begun, let part = Part.allCases.first(where: silent.contains) else { return nil }
        return Silence(part: part, time: now - begun)
    }
}
