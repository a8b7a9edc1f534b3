/// How the daemon is, without a look at any inbox: one that does not answer is no reason to be called ill.
enum HealthVerb: ControlVerb {
    static let name = "health"
    /// The journal is written to, and a busy disk is not an ill one; monitors wait for ten seconds.
    static let patience = 5

    typealias Arguments = Nothing

    struct Answer: Codable, Equatable {
        var pipelines: Int
        /// Jobs that are not over.
        var jobs: Int
        /// Whether it is about to end: nil where it is not.
        var stopping: Bool?
        /// Why trouble pauses pipelines, by their names.
        var paused: [String: String]
        /// Pipelines in which something does not move, with what that is and for how long.
        var stalled: [String: String]
        /// Pipelines that have not begun, by their files, with the reason.
        var silent: [String: String]?
        /// Why the last reload was refused; nil where it was taken, or there was none.
        var refused: [String]?
        /// Why the journal cannot be written; nil where it can.
        var journal: String?
    }
}
