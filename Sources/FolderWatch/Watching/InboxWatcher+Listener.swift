package import Files

extension InboxWatcher {
    /// What the watcher says.
    package struct Listener: Sendable {
        /// The listing changed. Large changes come in parts.
        package var changed: @Sendable ([InboxChange]) -> Void
        /// A full scan finished, whether anything differed or not. `isInitial`: the first since the start.
        package var scanned: @Sendable (_ isInitial: Bool) -> Void
        /// A folder in the inbox cannot be searched, and why; repeated at every scan.
        package var refused: @Sendable (DropPath, _ reason: String) -> Void
        /// The way of watching, at the start and when it changes, with the reason where there is one.
        package var watching: @Sendable (WatchMode, _ reason: String?) -> Void
        /// The inbox cannot be used; said once until it can.
        package var failed: @Sendable (WatchError) -> Void
        /// It can be used again.
        package var recovered: @Sendable () -> Void

        package init(
            changed: @escaping @Sendable ([InboxChange]) -> Void,
            scanned: @escaping @Sendable (_ isInitial: Bool) -> Void,
            refused: @escaping @Sendable (DropPath, _ reason: String) -> Void,
            watching: @escaping @Sendable (WatchMode, _ reason: String?) -> Void,
            failed: @escaping @Sendable (WatchError) -> Void, recovered: @escaping @Sendable () -> Void
        ) {
            self.changed = changed
            self.scanned = scanned
            self.refused = refused
            self.watching = watching
            self.failed = failed
            self.recovered = recovered
        }
    }

    /// How often things are done.
    package struct Pace: Sendable {
        /// Between full scans while events arrive.
        package var rescan: Duration = .seconds(60)
        /// Between full scans without events.
        package var poll: Duration = .seconds(2)
        /// Between looks at the clocks for an absence, and at the inbox for being the same.
        package var pulse: Duration = .seconds(5)

        /// The paces of the contract.
        package init() {}
    }
}
