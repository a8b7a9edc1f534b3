/// Which runs of `retry` and `replay` are under way.
enum RunsVerb: ControlVerb {
    static let name = "runs"

    typealias Arguments = Nothing

    struct Answer: Codable, Equatable {
        var runs: [Run]
    }

    struct Run: Codable, Equatable {
        /// What tells it from others.
        var run: String
        var verb: SendingOrder.Kind
        /// How many jobs are still to be sent in; nil as long as that is found out.
        var left: Int?

        /// `retry 3fa90c is under way, 12 jobs are left`
        var text: String {
            let rest = left.map { $0 == 1 ? "1 job is left" : "\($0) jobs are left" }
            return "\(verb.rawValue) \(run) is under way, \(rest ?? "looking for jobs")"
        }
    }
}
