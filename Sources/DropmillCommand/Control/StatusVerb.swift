import Journal

/// How things stand, by the journal: how many jobs are where, and what is known of each pipeline.
enum StatusVerb: ControlVerb {
    static let name = "status"
    static let patience = JobsVerb.patience

    typealias Arguments = Nothing

    struct Answer: Codable, Equatable {
        /// The daemon's run.
        var run: JSONValue?
        var pipelines: [JSONValue]
        /// Numbers of jobs that are alike.
        var counts: [JSONValue]
        /// What people hold.
        var holds: [JSONValue]
    }
}
