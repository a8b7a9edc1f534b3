import Dispatch
import Glibc
import Synchronization
import Testing

/// What tries to make Dropmill lose something. One test after the other: each is parallel in itself where that helps,
/// and has the machine for itself.
@Suite(.serialized) enum Torture {
    /// Whether the long forms run: `make torture`.
    static let isLong = getenv("DROPMILL_TORTURE") != nil

    /// Says what was tried, where whoever runs the tests sees it.
    static func say(_ line: String) { print("torture: \(line)") }

    /// Every `step`-th of the points, beginning with a different one for each kind, or all of them in the long form.
    static func spread(_ count: Int, most: Int) -> [Int] {
        guard !isLong, count > most else { return Array(1...max(1, count)) }
        return (0..<most).map { 1 + $0 * count / most }
    }

    /// Does something for each item, `width` at a time, each on a thread of its own, since all of it blocks.
    static func forEach<Item: Sendable, Result: Sendable>(
        _ items: [Item], width: Int = 2, _ body: @escaping @Sendable (Item) throws -> Result
    ) async throws -> [Result] {
        let state = Mutex<(next: Int, results: [Int: Swift.Result<Result, any Error>])>((0, [:]))
        await withCheckedContinuation { continuation in
            let group = DispatchGroup()
            for number in 0..<width {
                DispatchQueue(label: "torture.\(number)").async(group: group) { @Sendable in
                    while true {
                        let index = state.withLock { state in
                            defer { state.next += 1 }
                            return state.next
                        }
                        guard index < items.count else { return }
                        let result = Swift.Result { try body(items[index]) }
                        state.withLock { $0.results[index] = result }
                    }
                }
            }
            group.notify(queue: .global()) { @Sendable in continuation.resume() }
        }
        let results = state.withLock { $0.results }
        return try items.indices.compactMap { try results[$0]?.get() }
    }
}
