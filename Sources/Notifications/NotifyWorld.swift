package import Files

/// What those that send messages are told of the daemon.
package struct NotifyWorld: Sendable {
    package var now: @Sendable () -> Timestamp = { .now() }
    /// How all is; without figures, which the outbox has. It may block. `isFirst`: nothing of this run has settled yet.
    package var look: @Sendable (_ isFirst: Bool) -> NotifyLook
    /// What is not well, as `health` says it. It may block.
    package var problems: @Sendable () -> [String]
    /// Told of what a person should see to.
    package var warn: @Sendable (String) -> Void

    package init(
        look: @escaping @Sendable (_ isFirst: Bool) -> NotifyLook,
        problems: @escaping @Sendable () -> [String] = { @Sendable in [] },
        warn: @escaping @Sendable (String) -> Void = { @Sendable _ in }
    ) {
        (self.look, self.problems, self.warn) = (look, problems, warn)
    }
}
