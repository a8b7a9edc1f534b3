/// The events of a mill from where `Mill.events` was asked for. Any number of tasks may iterate, each over all of them.
/// An iteration ends with the run (`stopped` is its last event), or when its task is cancelled, which does nothing to
/// the mill.
///
/// The newest 1,024 events are kept. Who is slower than that gets one event of the kind `missed` in the place of those
/// that are gone.
struct MillEvents: AsyncSequence, Sendable {
    let history: MillHistory
    let start: Int

    /// An iteration from the start on.
    func makeAsyncIterator() -> Iterator { Iterator(history: history, place: start) }

    /// One iteration.
    struct Iterator: AsyncIteratorProtocol {
        let history: MillHistory
        var place: Int
        var isOver = false

        /// The next event; nil at the end.
        mutating func next() async -> MillEvent? { await next(isolation: #isolation) }

        /// The next event; nil at the end.
        mutating func next(isolation actor: isolated (any Actor)?) async throws(Never) -> MillEvent? {
            guard !isOver else { return nil }
            switch await history.event(at: place) {
            case .event(let event):
                place += 1
                isOver = event.kind == .stopped
                return event
            case .missed(let count):
                place += count
                var event = MillEvent(.missed, "\(count) events were dropped; iterate faster")
                event.missed = count
                return event
            case .nothing:
                isOver = true
                return nil
            }
        }
    }
}
