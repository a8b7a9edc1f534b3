/// Which runs over many jobs are under way.
package enum RunsVerb: ControlVerb {
    package static let name = "runs"

    package typealias Arguments = Nothing

    package struct Answer: Codable, Equatable, Sendable {
        package var runs: [Run]

        package init(runs: [Run]) {
            self.runs = runs
        }
    }

    package struct Run: Codable, Equatable, Sendable {
        /// What tells it from others.
        package var run: String
        package var verb: SendingOrder.Kind
        /// How many jobs it is about, and how many are left; nil as long as that is found out.
        package var jobs: Int?
        package var left: Int?

        /// `retry 3fa90c is under way, 12 jobs are left`
        package var text: String {
            let rest = left.map { $0 == 1 ? "1 job is left" : "\($0) jobs are left" }
            return "\(verb.rawValue) \(run) is under way, \(rest ?? "looking for jobs")"
        }

        package init(run: String, verb: SendingOrder.Kind, jobs: Int? = nil, left: Int? = nil) {
            self.run = run
            self.verb = verb
            (self.jobs, self.left) = (jobs, left)
        }
    }
}
