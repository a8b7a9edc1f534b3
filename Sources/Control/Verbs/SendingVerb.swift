package import FoundationEssentials

/// How far a run of `retry`, `replay`, `cancelAll` or `dismiss` is: answered as soon as there is more than is known, or
/// after a while. The run goes on whether it is asked for or not.
package enum SendingVerb: ControlVerb {
    package static let name = "sending"
    package static let patience = 60

    package struct Arguments: Codable, Equatable, Sendable {
        package var run: String
        /// How many results are known.
        package var after: Int
        /// Seconds after which it answers at the latest.
        package var wait: Double?

        package init(run: String, after: Int, wait: Double? = nil) {
            (self.run, self.after, self.wait) = (run, after, wait)
        }
    }

    package struct Answer: Codable, Equatable, Sendable {
        /// What tells it from others.
        package var run: String
        /// How many jobs it is about, of which size, and the first names; nil while there is none.
        package var found: JobSummary?
        /// What follows those that are known; no more than fit into an answer.
        package var results: [Result] = []
        /// How many jobs are left.
        package var left = 0
        /// Why it ended before its time.
        package var problem: String?
        /// Whether nothing follows.
        package var isOver = false
        /// Of a dry run: with which a run is of what it has found.
        package var key: String?

        package init(
            run: String, found: JobSummary? = nil, results: [Result] = [], left: Int = 0, problem: String? = nil,
            isOver: Bool = false
        ) {
            self.run = run
            self.found = found
            self.results = results
            self.left = left
            self.problem = problem
            self.isOver = isOver
        }
    }

    /// What became of one.
    package struct Result: Codable, Equatable, Sendable {
        /// Its id; where there is none: what was asked for.
        package var job: String
        package var pipeline: String?
        /// The drop's name, in bytes.
        package var name: Data?
        /// Where it is now, in bytes; nil where it was not sent in.
        package var path: Data?
        /// Why it was not done; or what could not be tidied up, or is still to come.
        package var text: String?
        package var isDone: Bool

        package init(
            job: String, pipeline: String? = nil, name: Data? = nil, path: Data? = nil, text: String? = nil,
            isDone: Bool? = nil
        ) {
            self.job = job
            self.pipeline = pipeline
            self.name = name
            self.path = path
            self.text = text
            self.isDone = isDone ?? (path != nil)
        }
    }

    /// How long an answer waits for more.
    package static let longestWait = Duration.seconds(30)
}
