/// What is told as a sequence; each iteration is a listener of its own.
struct Tellings<Pending: Merging>: AsyncSequence, Sendable {
    typealias Element = Pending.Told
    typealias Failure = Never

    let listen: @Sendable (Outbox<Pending>) -> Void

    func makeAsyncIterator() -> Iterator { Iterator(listen) }

    /// Ends with its last copy, too.
    final class Iterator: AsyncIteratorProtocol, Sendable {
        private let outbox = Outbox<Pending>()

        init(_ listen: (Outbox<Pending>) -> Void) { listen(outbox) }

        deinit { outbox.end() }

        func next() async -> Pending.Told? { await outbox.next() }

        func next(isolation actor: isolated (any Actor)?) async -> Pending.Told? { await outbox.next() }
    }
}
