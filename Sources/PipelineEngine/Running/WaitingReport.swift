/// What waits in all inboxes at one moment.
package struct WaitingReport: Sendable {
    /// By pipeline.
    package var inboxes: [String: InboxSnapshot] = [:]
    /// The pipelines whose inboxes have not answered for long, and were not asked.
    package var silent: Set<String> = []
    /// Those whose inboxes did not answer in time.
    package var busy: Set<String> = []
    /// Those that are not loaded any more, and whose jobs others take over as what is under way ends.
    package var ending: Set<String> = []
    /// How many of their jobs stand otherwise than the journal says, since it cannot be written.
    package var unwritten: [String: Int] = [:]
    /// Those in which something does not move.
    package var stalled: [String: Stall] = [:]
    /// Those that are outside their hours, and until when.
    package var outside: [String: OutsideHours] = [:]
    /// Whether the engine is about to end.
    package var isStopping = false
}
