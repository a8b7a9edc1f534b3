/// What a listener holds: it listens until this is cancelled or released.
public final class Listening: Sendable {
    private let onEnd: @Sendable () -> Void

    init(_ onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }

    convenience init(_ outbox: Outbox<some Merging>) { self.init { @Sendable in outbox.end() } }

    /// Ends it: nothing more is told but what is being told already. Calling it again does nothing.
    public func cancel() { onEnd() }

    deinit { onEnd() }
}
