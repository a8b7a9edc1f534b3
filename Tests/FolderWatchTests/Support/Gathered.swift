import Synchronization

/// What a listener or an iteration was told, in order.
final class Gathered<Told: Sendable>: Sendable {
    private let list = Mutex<[Told]>([])

    var all: [Told] { list.withLock { $0 } }

    func add(_ told: Told) { list.withLock { $0.append(told) } }
}
