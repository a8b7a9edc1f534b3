import Synchronization

/// How many connections there are.
final class ConnectionCount: Sendable {
    private let count = Mutex(0)

    /// False where there are so many already.
    func take(below limit: Int) -> Bool {
        count.withLock { count in
            guard count < limit else { return false }
            count += 1
            return true
        }
    }

    func give() { count.withLock { $0 -= 1 } }
}
