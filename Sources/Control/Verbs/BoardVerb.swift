/// What a person wants to see at a glance: how each pipeline stands, and what it did lately.
package enum BoardVerb: ControlVerb {
    package static let name = "board"
    /// Inboxes are asked, as for `waiting`.
    package static let patience = WaitingVerb.patience

    package typealias Arguments = Nothing

    package struct Answer: Codable, Equatable, Sendable {
        /// The daemon's run, as `subscribe` has it.
        package var run: String
        package var version: String
        package var host: String
        /// The zone of the host, in which its day begins: a name of the time zone database, and seconds east of UTC.
        package var zone: String
        package var offset: Int
        /// Nanoseconds since 1970: the daemon's clock, when it was started, and when its day has begun.
        package var now: Int64
        package var started: Int64
        package var today: Int64
        /// In the order of the files.
        package var pipelines: [BoardPipeline] = []
        /// Which node the daemon is, where several share the journal, and all that are alive or have left jobs; nil
        /// where they are not known.
        package var node: String?
        package var nodes: [BoardNode]?
        /// What people hold on all nodes.
        package var held: [BoardNode.Held]?
        /// Whether it is about to end: nil where it is not.
        package var stopping: Bool?
        /// Why the journal cannot be written; nil where it can.
        package var journal: String?
        /// Why the last reload was refused; nil where it was taken, or there was none.
        package var refused: [String]?

        package init(
            run: String, version: String, host: String, zone: String, offset: Int, now: Int64, started: Int64,
            today: Int64
        ) {
            self.run = run
            self.version = version
            self.host = host
            self.zone = zone
            self.offset = offset
            self.now = now
            self.started = started
            self.today = today
        }
    }
}
