@preconcurrency import Dispatch
import Files
import Journal
import Synchronization

/// Slots of stages of which all nodes that share a journal have so many: `workers: { fleet: N }`. All that a node wants
/// and gives back goes with one statement a turn, on a queue of its own: whoever waits holds nothing up. Turns follow
/// each other more and more slowly as long as nothing comes of them.
///
/// The journal gives slots in the order in which they were asked for, whichever node asks. A worker keeps its slot from
/// job to job as long as no other node waits, and for a moment where one does: each change of hands costs a turn of the
/// other one, which many small jobs would do nothing but wait for.
final class FleetSlots: Sendable {
    fileprivate struct Ticket {
        let place: SlotPlace
        let most: Int
        /// Goes on with the slot.
        let begin: @Sendable () -> Void
        /// Since when it has one.
        var taken: MonotonicTime?
        /// Whether another node waits for it.
        var isAwaited = false
        /// Whether the journal knows nothing of it any more.
        var isLost = false
    }

    fileprivate struct State {
        var tickets: [Int64: Ticket] = [:]
        /// The newest one's number.
        var last: Int64 = 0
        /// Whether the journal may still have some that were left.
        var hasLeft = false
        /// When the next turn is, and how long after this one if it comes to nothing.
        var next: MonotonicTime?
        var pause = FleetSlots.shortest
        /// When the last turn began that was answered, and when one was not.
        var answered: MonotonicTime?
        var failed: MonotonicTime?
        var isStopped = false

        var waits: Bool { tickets.values.contains { $0.taken == nil } }
    }

    /// Between two turns: as long as a slot is waited for, at first and at most; and as long as some are held.
    fileprivate static let shortest = Duration.milliseconds(40), longest = Duration.seconds(1)
    /// For how long a worker keeps a slot that another node waits for.
    private static let moment = Duration.seconds(2)
    /// For how long what was answered counts.
    private static let validity = Duration.seconds(5)
    /// For how long a statement may still be under way whose connection was lost.
    fileprivate static let doubt = Duration.seconds(60)

    private let journal: any SlotJournal
    private let queue = DispatchQueue(label: "dropmill.fleet")
    private let state = Mutex(State())

    init(_ journal: any SlotJournal) { self.journal = journal }

    /// Calls the body with a number once there is a slot for it, on the queue of the turns.
    func enter(_ place: SlotPlace, of most: Int, _ body: @escaping @Sendable (_ seat: Int64) -> Void) {
        state.withLock { state in
            state.last += 1
            let number = state.last
            state.tickets[number] = Ticket(place: place, most: most) { body(number) }
            state.pause = Self.shortest
        }
        turn(at: .now())
    }

    /// Whether a slot is this node's now, so that a stage may begin.
    func holds(_ seat: Int64) -> Bool {
        let isTaken = state.withLock { state in
            state.tickets[seat].map { $0.taken != nil && !$0.isLost } ?? false
                && state.answered.map { .now() - $0 < Self.validity } ?? false
        }
        return isTaken && journal.mayAct
    }

    /// Whether whoever has it may go on with another job.
    func mayKeep(_ seat: Int64) -> Bool {
        let isDue = state.withLock { state in
            state.tickets[seat].map { ticket in
                ticket.isAwaited && ticket.taken.map { .now() - $0 >= Self.moment } ?? true
            } ?? true
        }
        return !isDue && holds(seat)
    }

    /// The stage that had it has ended.
    func leave(_ seat: Int64) {
        let wasThere = state.withLock { state in
            guard state.tickets.removeValue(forKey: seat) != nil else { return false }
            state.hasLeft = true
            return true
        }
        if wasThere { turn(at: .now()) }
    }

    /// Whether a stage of the pipeline waits for a slot.
    func isAwaited(by pipeline: String) -> Bool {
        state.withLock { $0.tickets.values.contains { $0.taken == nil && $0.place.pipeline == pipeline } }
    }

    /// Takes no more turns: what is left ends with the node.
    func stop() {
        state.withLock { state in
            state.isStopped = true
            state.tickets = [:]
        }
    }

    // MARK: Turns

    /// Takes a turn then, unless there is one before.
    private func turn(at time: MonotonicTime) {
        let isEarlier = state.withLock { state in
            guard !state.isStopped, state.next.map({ time < $0 }) ?? true else { return false }
            state.next = time
            return true
        }
        guard isEarlier else { return }
        queue.after(max(.zero, time - .now())) { @Sendable [weak self] in self?.turn(of: time) }
    }

    private func turn(of time: MonotonicTime) {
        let begun = MonotonicTime.now()
        let asked = state.withLock { state -> (tickets: [SlotTicket], last: Int64)? in
            guard state.next == time, !state.isStopped else { return nil }
            (state.next, state.hasLeft) = (nil, false)
            let tickets = state.tickets.map { SlotTicket(number: $0, place: $1.place, most: $1.most) }
            return (tickets.sorted { $0.number < $1.number }, state.last)
        }
        guard let asked else { return }
        do throws(JournalError) {
            let answers = try journal.takeSlots(asked.tickets, upTo: asked.last)
            let bodies = state.withLock { state in
                state.answered = begun
                return state.note(answers, to: asked.tickets)
            }
            bodies.forEach { $0() }
        } catch {
            // Whoever writes tells of it. The answer may have been lost alone.
            state.withLock { $0.failed = .now() }
        }
        if let pause = state.withLock({ $0.pauseAfterTurn() }) { turn(at: .now() + pause) }
    }
}

extension FleetSlots.State {
    /// Returns what begins.
    fileprivate mutating func note(_ answers: [SlotStanding], to asked: [SlotTicket]) -> [@Sendable () -> Void] {
        var bodies: [@Sendable () -> Void] = []
        let known = Dictionary(answers.map { ($0.number, $0) }) { first, _ in first }
        for number in asked.map(\.number) {
            guard var ticket = tickets[number] else { continue }
            let answer = known[number]
            ticket.isAwaited = answer?.isAwaited ?? false
            if answer?.isTaken ?? false, ticket.taken == nil {
                ticket.taken = .now()
                bodies.append(ticket.begin)
            } else if ticket.taken != nil {
                ticket.isLost = !(answer?.isTaken ?? false)
            }
            tickets[number] = ticket
        }
        if !bodies.isEmpty { pause = FleetSlots.shortest }
        return bodies
    }

    /// How long after a turn the next one is; nil where there is nothing to ask.
    fileprivate mutating func pauseAfterTurn() -> Duration? {
        if hasLeft { return FleetSlots.shortest / 2 }
        let isInDoubt = failed.map { .now() - $0 < FleetSlots.doubt } ?? false
        guard !tickets.isEmpty || isInDoubt else { return nil }
        guard waits else { return FleetSlots.longest * Double.random(in: 0.75...1.25) }
        defer { pause = min(pause * 2, FleetSlots.longest) }
        return pause * Double.random(in: 0.75...1.25)
    }
}
