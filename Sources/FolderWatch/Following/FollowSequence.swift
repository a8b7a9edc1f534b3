@preconcurrency import Dispatch

/// What a reader finds, as a sequence; each iteration has a reader of its own.
struct FollowSequence<Told: Sendable>: AsyncSequence, Sendable {
    typealias Element = Told
    typealias Failure = Never

    let core: FollowCore
    let next: @Sendable (FollowCursor) -> Told?

    func makeAsyncIterator() -> Iterator { Iterator(core, next) }

    /// Ends with its last copy, too.
    final class Iterator: AsyncIteratorProtocol, Sendable {
        private let cursor: FollowCursor
        private let signal = Outbox<Latest<Void>>()
        private let find: @Sendable (FollowCursor) -> Told?
        /// Files are opened where an iteration begins, but not read on the threads that tasks share.
        private let queue = DispatchQueue(label: "dropmill.follower.reader")

        init(_ core: FollowCore, _ find: @escaping @Sendable (FollowCursor) -> Told?) {
            self.find = find
            cursor = core.cursor()
            core.add(cursor, signal)
        }

        deinit { end() }

        func next() async -> Told? {
            while !Task.isCancelled {
                let told = await withCheckedContinuation { continuation in
                    queue.async { @Sendable [cursor, find] in continuation.resume(returning: find(cursor)) }
                }
                if let told { return told }
                if await signal.next() == nil { break }
            }
            end()
            return nil
        }

        func next(isolation actor: isolated (any Actor)?) async -> Told? { await next() }

        private func end() {
            signal.end()
            cursor.end()
        }
    }
}
