import Files
import FolderWatch
import Journal
import PipelineKit
import Readiness

/// How a drop came to its claim: for how long it was known, and what held it meanwhile.
struct Arrival: Sendable, Equatable {
    /// From when it was first seen to its claim.
    let waited: Duration
    private(set) var holds: [Transition] = []
    /// Since when it waits once more, though it is claimed.
    private var lateSince: MonotonicTime?

    /// What was shorter held nothing that anyone would notice.
    static let shortest = Duration.milliseconds(100)
    /// What no other reason explains may be that a look came late.
    static let shortestRest = Duration.seconds(1)
    /// The most holds that are kept: those that took longest.
    static let most = 6

    /// Nothing is kept of what held it.
    init(waited: Duration) { self.waited = max(.zero, waited) }

    /// `seen`: when it was first seen; `held`: what held it until it was complete; `quiet`: for how long every drop has
    /// to stand still; `obstacles`: what kept its pipeline from claiming.
    init(
        seen: MonotonicTime, held: [GateHold], quiet: Duration, obstacles: Obstacles, claimed now: MonotonicTime,
        at time: Timestamp
    ) {
        self.init(waited: now - seen)
        var holds = held
        // When it was complete is not kept of each that waits.
        let complete = min(now, held.reduce(seen + quiet) { $0 + $1.time })
        let kept = obstacles.between(complete, now)
        let rest = kept.reduce(now - complete) { $0 - $1.time }
        holds += kept
        if rest >= Self.shortestRest { holds.append(GateHold(waiting: .room, since: complete, time: rest)) }
        holds = Array(holds.filter { $0.time >= Self.shortest }.sorted { $0.time > $1.time }.prefix(Self.most))
        self.holds = holds.sorted { $0.since < $1.since }.map { hold in
            Transition(hold, at: Timestamp(nanoseconds: time.nanoseconds - (now - hold.since).nanoseconds))
        }
    }

    /// It is claimed, and somebody still writes to it.
    mutating func isLate(at now: MonotonicTime) { lateSince = lateSince ?? now }

    /// It is a job from now on. What happened to it until then.
    func history(_ event: String, at now: MonotonicTime, _ time: Timestamp) -> [Transition] {
        var history = holds
        if let since = lateSince, now - since >= Self.shortest {
            history.append(
                Transition(
                    Transition.held, at: Timestamp(nanoseconds: time.nanoseconds - (now - since).nanoseconds),
                    duration: now - since, code: Waiting.heldOpen(.unknown).code,
                    note: "claimed, and still open for writing"))
        }
        return history + [Transition(event, at: time, duration: waited)]
    }
}

extension Transition {
    fileprivate init(_ hold: GateHold, at time: Timestamp) {
        self.init(
            Self.held, at: time, duration: hold.time, code: hold.waiting.code,
            note: String(hold.waiting.reason.prefix(Self.longestReason)))
    }

    /// Reasons name files of the sender's, and how many bytes a name has is up to that.
    private static let longestReason = 300
}
