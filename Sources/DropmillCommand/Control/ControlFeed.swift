import Control
@preconcurrency import Dispatch
import Files
import Synchronization

/// What has changed lately, numbered, for those who subscribed. While nobody does, changes are only counted.
final class ControlFeed: Sendable {
    typealias Answer = SubscribeVerb.Answer
    typealias Change = SubscribeVerb.Change

    /// How many changes are kept.
    static let most = 4096
    /// How long a subscriber may be away before changes are not kept for it.
    private static let memory = Duration.seconds(60)

    private struct Waiter {
        var after: UInt64
        var reply: @Sendable (Answer) -> Void
    }

    private struct State {
        var last: UInt64 = 0
        var kept: ArraySlice<Change> = []
        var waiters: [UInt64: Waiter] = [:]
        var nextWaiter: UInt64 = 0
        /// Until when changes are kept; nil where nobody ever subscribed.
        var listenedUntil: MonotonicTime?
    }

    /// What tells this daemon from others.
    let run: String
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "dropmill.control.feed")

    init(run: String) { self.run = run }

    /// Records a change; it is built only if a client subscribes. Called for every event.
    func note(_ change: () -> Change) {
        let isWanted = state.withLock { state in
            guard let until = state.listenedUntil else {
                state.last &+= 1
                return false
            }
            if !state.waiters.isEmpty || MonotonicTime.now() < until { return true }
            (state.kept, state.listenedUntil) = ([], nil)
            state.last &+= 1
            return false
        }
        guard isWanted else { return }
        var change = change()
        let answers = state.withLock { state in
            state.last &+= 1
            change.number = state.last
            state.kept.append(change)
            if state.kept.count > Self.most { state.kept.removeFirst() }
            defer { state.waiters = [:] }
            return state.waiters.values.map { ($0.reply, Self.answer(run, state, after: $0.after)) }
        }
        for (reply, answer) in answers { reply(answer) }
    }

    /// Answers a subscriber, on any queue.
    func answer(_ arguments: SubscribeVerb.Arguments, reply: @escaping @Sendable (Answer) -> Void) {
        let wait = Duration.seconds(min(max(0, arguments.wait ?? 30), SubscribeVerb.longestWait.seconds))
        let (waiter, answer) = state.withLock { state -> (UInt64, Answer?) in
            let isNew = state.listenedUntil == nil
            state.listenedUntil = MonotonicTime.now() + SubscribeVerb.longestWait + Self.memory
            let isOther = arguments.run.map { $0 != run } ?? false
            let after = arguments.after ?? state.last
            var answer = Self.answer(run, state, after: after)
            if isOther || after > state.last || isNew && after < state.last {
                answer = Answer(run: run, last: state.last, missed: true, changes: [])
            }
            guard !answer.missed, answer.changes.isEmpty else { return (0, answer) }
            state.nextWaiter += 1
            state.waiters[state.nextWaiter] = Waiter(after: after, reply: reply)
            return (state.nextWaiter, nil)
        }
        if let answer { return reply(answer) }
        queue.after(wait) { @Sendable [weak self] in self?.end(waiter) }
    }

    private func end(_ number: UInt64) {
        let ended = state.withLock { state in
            state.waiters.removeValue(forKey: number).map { ($0.reply, Self.answer(run, state, after: $0.after)) }
        }
        if let (reply, answer) = ended { reply(answer) }
    }

    private static func answer(_ run: String, _ state: State, after: UInt64) -> Answer {
        let changes = state.kept.drop { $0.number <= after }
        let isWhole = after == state.last || changes.first.map { $0.number - 1 == after } ?? false
        return Answer(run: run, last: state.last, missed: !isWhole, changes: isWhole ? Array(changes) : [])
    }
}
