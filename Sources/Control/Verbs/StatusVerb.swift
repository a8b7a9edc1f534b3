package import Journal

/// How things stand, by the journal: how many jobs are where, and what is known of each pipeline.
package enum StatusVerb: ControlVerb {
    package static let name = "status"
    package static let patience = JobsVerb.patience

    package typealias Arguments = Nothing

    package struct Answer: Codable, Equatable, Sendable {
        /// The daemon's run.
        package var run: JSONValue?
        package var pipelines: [JSONValue]
        /// Numbers of jobs that are alike.
        package var counts: [JSONValue]
        /// What people hold.
        package var holds: [JSONValue]
        /// Which node the daemon is, where several share the journal.
        package var node: String?

        package init(run: JSONValue? = nil, pipelines: [JSONValue], counts: [JSONValue], holds: [JSONValue]) {
            self.run = run
            self.pipelines = pipelines
            self.counts = counts
            self.holds = holds
        }
    }
}
