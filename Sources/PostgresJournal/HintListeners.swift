import Journal
import Synchronization

/// Who is called when other nodes tell something.
final class HintListeners: Sendable {
    private let all = Mutex<[@Sendable (NodeHint) -> Void]>([])

    func add(_ heard: @escaping @Sendable (NodeHint) -> Void) { all.withLock { $0.append(heard) } }

    /// Newer nodes may tell what this one does not know.
    func tell(_ texts: Set<String>) {
        let listeners = all.withLock { $0 }
        for hint in texts.compactMap(NodeHint.init) {
            for heard in listeners { heard(hint) }
        }
    }
}
