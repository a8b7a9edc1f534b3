import DequeModule
import Synchronization

/// The newest events of a mill, for any number of readers: each has a place in them, and who falls behind learns how
/// many are gone. So what is kept is bounded, however many read and however slowly.
final class MillHistory: Sendable {
    /// The most events that are kept.
    static let size = 1024

    /// What is at a place.
    enum Found: Sendable {
        case event(MillEvent)
        /// So many are gone.
        case missed(Int)
        /// There will be none, or the reader was called off.
        case nothing
    }

    private struct State {
        /// The events from the place `first` on.
        var events: Deque<MillEvent> = []
        var first = 0
        var isClosed = false
        /// Those that wait for the next event, each for an answer.
        var waiting: [Int: CheckedContinuation<Found, Never>] = [:]
        var lastReader = 0

        /// The place of the next event.
        var end: Int { first + events.count }

        func found(at place: Int) -> Found? {
            if place < first { return .missed(first - place) }
            if place < end { return .event(events[place - first]) }
            return isClosed ? .nothing : nil
        }
    }

    private let state = Mutex(State())

    /// The place of what comes next.
    var end: Int { state.withLock { $0.end } }

    /// Adds an event.
    func add(_ event: MillEvent) {
        answer { state in
            if state.events.count == Self.size {
                state.events.removeFirst()
                state.first += 1
            }
            state.events.append(event)
            return .event(event)
        }
    }

    /// There will be no more.
    func close() {
        answer { state in
            state.isClosed = true
            return .nothing
        }
    }

    /// Who waits, waits for the end.
    private func answer(_ body: (inout State) -> Found) {
        let (found, waiting) = state.withLock { state in
            let found = body(&state)
            defer { state.waiting = [:] }
            return (found, state.waiting.values)
        }
        for reader in waiting { reader.resume(returning: found) }
    }

    /// What is at a place, once there is something; nothing for a task that was cancelled.
    func event(at place: Int) async -> Found {
        let reader = state.withLock { state in
            state.lastReader += 1
            return state.lastReader
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let found: Found? = state.withLock { state in
                    if let found = Task.isCancelled ? .nothing : state.found(at: place) { return found }
                    state.waiting[reader] = continuation
                    return nil
                }
                if let found { continuation.resume(returning: found) }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: reader) }?.resume(returning: .nothing)
        }
    }
}
