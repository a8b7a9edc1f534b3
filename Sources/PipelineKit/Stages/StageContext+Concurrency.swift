import Dispatch
import Glibc
import Synchronization

extension StageContext {
    /// Runs the body for every item, several at once on serial queues of their own, at most one per core; returns the
    /// results in the items' order, or throws the failure of the first item that has one. Others are not started then.
    package func concurrently<Item: Sendable, Result: Sendable>(
        _ items: [Item], _ body: @escaping @Sendable (Item) throws(Failure) -> Result
    ) throws(Failure) -> [Result] {
        let lanes = min(items.count, Self.cores)
        if lanes <= 1 {
            var results: [Result] = []
            for item in items {
                try checkCancelled()
                results.append(try body(item))
            }
            return results
        }
        let shared = Lanes<Result>(count: items.count)
        let group = DispatchGroup()
        for lane in 0..<lanes {
            let queue = DispatchQueue(label: "\(work.label).\(lane)")
            queue.async(group: group) { @Sendable in
                while let index = shared.next() {
                    do throws(Failure) {
                        try self.checkCancelled()
                        shared.finish(index, .success(try body(items[index])))
                    } catch {
                        shared.finish(index, .failure(error))
                    }
                }
            }
        }
        group.wait()
        return try shared.results()
    }

    private static let cores = max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
}

/// What the lanes of `concurrently` share.
private final class Lanes<Value: Sendable>: Sendable {
    private struct State {
        var next = 0
        var failed = false
        var results: [Result<Value, Failure>?]
    }

    private let state: Mutex<State>

    init(count: Int) { state = Mutex(State(results: Array(repeating: nil, count: count))) }

    /// The next item's index, or nil when all are taken or one has failed.
    func next() -> Int? {
        state.withLock { state in
            guard !state.failed, state.next < state.results.count else { return nil }
            defer { state.next += 1 }
            return state.next
        }
    }

    func finish(_ index: Int, _ result: Result<Value, Failure>) {
        state.withLock { state in
            if case .failure = result { state.failed = true }
            state.results[index] = result
        }
    }

    func results() throws(Failure) -> [Value] {
        var values: [Value] = []
        for result in state.withLock({ $0.results }) {
            // Items are taken in order, so what was not started comes after the failure that stopped it.
            guard let result else { break }
            values.append(try result.get())
        }
        return values
    }
}
