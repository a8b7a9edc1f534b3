/// How the daemon is, without a look at any inbox: one that does not answer is no reason to be called ill.
package enum HealthVerb: ControlVerb {
    package static let name = "health"
    /// The journal is written to, and a busy disk is not an ill one; monitors wait for ten seconds.
    package static let patience = 5

    package typealias Arguments = Nothing

    package struct Answer: Codable, Equatable, Sendable {
        package var pipelines: Int
        /// Jobs that are not over.
        package var jobs: Int
        /// Whether it is about to end: nil where it is not.
        package var stopping: Bool?
        /// Why trouble pauses pipelines, by their names.
        package var paused: [String: String]
        /// Pipelines in which something does not move, with what that is and for how long.
        package var stalled: [String: String]
        /// Pipelines that have not begun, by their files, with the reason.
        package var silent: [String: String]?
        /// Why the last reload was refused; nil where it was taken, or there was none.
        package var refused: [String]?
        /// Why the journal cannot be written; nil where it can.
        package var journal: String?

        package init(
            pipelines: Int, jobs: Int, stopping: Bool? = nil, paused: [String: String], stalled: [String: String],
            silent: [String: String]? = nil, refused: [String]? = nil, journal: String? = nil
        ) {
            self.pipelines = pipelines
            self.jobs = jobs
            self.stopping = stopping
            self.paused = paused
            self.stalled = stalled
            self.silent = silent
            self.refused = refused
            self.journal = journal
        }
    }
}
