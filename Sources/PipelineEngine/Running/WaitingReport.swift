/// What waits in all inboxes at one moment.
package struct WaitingReport: Sendable {
    /// By pipeline.
    package var inboxes: [String: InboxSnapshot] = [:]
    /// The pipelines whose inboxes did not answer in time.
    package var silent: Set<String> = []
    /// Those in which nothing moves.
    package var stalled: [String: Stall] = [:]
}
