/// What waits in all inboxes at one moment.
package struct WaitingReport: Sendable {
    /// By pipeline.
    package var inboxes: [String: InboxSnapshot] = [:]
    /// The pipelines whose inboxes have not answered for long, and were not asked.
    package var silent: Set<String> = []
    /// Those whose inboxes did not answer in time.
    package var busy: Set<String> = []
    /// Those in which something does not move.
    package var stalled: [String: Stall] = [:]
    /// Whether the engine is about to end.
    package var isStopping = false
}
