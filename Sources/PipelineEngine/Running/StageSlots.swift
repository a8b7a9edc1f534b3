import FolderWatch
import Synchronization

/// How many stages of all pipelines may run at once: `jobs_at_once`. Where there is no bound they are only counted, so
/// that one can come while they run. Whoever has to wait gets its turn by the pipelines' weights.
final class StageSlots: Sendable {
    private struct State: Sendable {
        /// Nil: any number.
        var most: Int?
        var running = 0
        var turns = FairOrder()
        /// What goes on with a slot, by pipeline, in order.
        var waiting: [FairOrder.Place: [@Sendable () -> Void]] = [:]

        /// Who may begin now.
        mutating func admit() -> [@Sendable () -> Void] {
            var admitted: [@Sendable () -> Void] = []
            while running < most ?? .max, let place = turns.next, let body = waiting[place]?.first {
                turns.take(place)
                waiting[place]?.removeFirst()
                if waiting[place]?.isEmpty == true { waiting[place] = nil }
                running += 1
                admitted.append(body)
            }
            return admitted
        }

        mutating func wait(_ pipeline: String, _ body: @escaping @Sendable () -> Void) {
            waiting[turns.join(FairOrder.Place(.usual, of: pipeline)), default: []].append(body)
        }
    }

    private let state: Mutex<State>

    init(_ most: Int? = nil) { state = Mutex(State(most: most)) }

    /// From now on so many may run; what runs goes on.
    func set(_ most: Int?) {
        let admitted = state.withLock { state in
            state.most = most
            return state.admit()
        }
        admitted.forEach { $0() }
    }

    /// How often a pipeline has its turn where others have it once.
    func weigh(_ pipeline: String, _ weight: Int) { state.withLock { $0.turns.weigh(pipeline, weight) } }

    /// Calls the body once a stage of the pipeline may run: at once, or on the thread of one that leaves.
    func enter(_ pipeline: String, _ body: @escaping @Sendable () -> Void) {
        let isAdmitted = state.withLock { state in
            guard state.running >= state.most ?? .max else {
                state.running += 1
                return true
            }
            state.wait(pipeline, body)
            return false
        }
        if isAdmitted { body() }
    }

    /// Whether a stage of the pipeline waits for its turn.
    func isAwaited(by pipeline: String) -> Bool {
        state.withLock { $0.waiting.keys.contains { $0.producer == pipeline } }
    }

    /// The same for one that does not wait: whether it may run.
    func tryEnter() -> Bool {
        state.withLock { state in
            guard state.running < state.most ?? .max else { return false }
            state.running += 1
            return true
        }
    }

    /// Whether one that has run may go on with another job. If not its slot went to one whose turn it is, and the body
    /// is called once it is this one's.
    func renew(_ pipeline: String, _ body: @escaping @Sendable () -> Void) -> Bool {
        let admitted = state.withLock { state -> [@Sendable () -> Void]? in
            guard let most = state.most, !state.waiting.isEmpty || state.running > most else { return nil }
            state.running -= 1
            state.wait(pipeline, body)
            return state.admit()
        }
        admitted?.forEach { $0() }
        return admitted == nil
    }

    /// One that ran is over.
    func leave() {
        let admitted = state.withLock { state in
            state.running -= 1
            return state.admit()
        }
        admitted.forEach { $0() }
    }
}
