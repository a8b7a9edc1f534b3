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

    enum Step: Equatable {
        /// Ask all parts.
        case ask
        case wait
        /// Report a part that has been silent for so long; once a round.
        case report(Part, silence: Duration)
    }

    /// How often a round begins, and how long a part may take without being reported.
    let interval: Duration
    private var begun: MonotonicTime?
    private var silent: Set<Part> = []
    private var isReported = false

    init(every interval: Duration) { self.interval = interval }

    /// It is time for another round. While a part is silent it is not asked again.
    mutating func tick(at now: MonotonicTime) -> Step {
        guard let begun, let part = Part.allCases.first(where: silent.contains) else {
            (self.begun, silent, isReported) = (now, Set(Part.allCases), false)
            return .ask
        }
        let silence = now - begun
        guard !isReported, silence >= interval else { return .wait }
        isReported = true
        return .report(part, silence: silence)
    }

    /// A part has answered. Whether the manager is to be told: it was the last one.
    mutating func answered(_ part: Part) -> Bool { silent.remove(part) != nil && silent.isEmpty }
}
