import FoundationEssentials

/// How far a run of `retry` or `replay` is: answered as soon as there is more than is known, or after a while. The run
/// goes on whether it is asked for or not.
enum SendingVerb: ControlVerb {
    static let name = "sending"
    static let patience = 60

    struct Arguments: Codable, Equatable {
        var run: String
        /// How many results are known.
        var after: Int
    }

    struct Answer: Codable, Equatable {
        /// What tells it from others.
        var run: String
        /// How many jobs are to be sent in, of which size, and the first names; nil while there is none.
        var found: JobSummary?
        /// What follows those that are known; no more than fit into an answer.
        var results: [Result] = []
        /// How many jobs are still to be sent in.
        var left = 0
        /// Why it ended before its time.
        var problem: String?
        /// Whether nothing follows.
        var isOver = false
    }

    /// What became of one.
    struct Result: Codable, Equatable {
        /// Its id; where it was not sent in: what was asked for.
        var job: String
        var pipeline: String?
        /// The drop's name, in bytes.
        var name: Data?
        /// Where it is now, in bytes; nil where it was not sent in.
        var path: Data?
        /// Why it was not; or what could not be tidied up.
        var text: String?
    }

    /// How long an answer waits for more.
    static let longestWait = Duration.seconds(30)
}
