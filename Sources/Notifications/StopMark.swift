import Synchronization

/// Whether it is over, for what runs meanwhile.
final class StopMark: Sendable {
    private let state = Atomic(false)

    var isSet: Bool { state.load(ordering: .relaxed) }

    func set() { state.store(true, ordering: .relaxed) }
}
