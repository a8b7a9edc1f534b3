import Control
import Files
import PipelineKit

/// What dry runs have found, so that a run can be of these jobs and of no others. Some are kept, for some time. Pure.
struct DryRuns {
    struct Found {
        let verb: String
        let order: SendingOrder
        let jobs: [JobID]
        let summary: JobSummary?
        let at: MonotonicTime
    }

    /// How many jobs a dry run looks for.
    static let mostJobs = 10_000
    static let (most, memory) = (16, Duration.seconds(600))

    private var kept: [(key: String, found: Found)] = []

    /// Keeps what one has found, and gives the key to it.
    mutating func keep(_ found: Found) -> String {
        let key = String(UInt64.random(in: 1 << 60 ... .max), radix: 16)
        kept.removeAll { found.at - $0.found.at >= Self.memory }
        if kept.count >= Self.most { kept.removeFirst() }
        kept.append((key, found))
        return key
    }

    /// What a run is of that gives this key. It serves once: what is asked for twice is done once.
    mutating func take(
        _ key: String, _ verb: String, _ order: SendingOrder, at now: MonotonicTime
    ) throws(ControlProblem) -> Found {
        guard let place = kept.firstIndex(where: { $0.key == key }), now - kept[place].found.at < Self.memory else {
            throw ControlProblem(
                "its dry run is not known any more, or a run has begun with it; look again what there is")
        }
        guard kept[place].found.verb == verb, kept[place].found.order.chooses(like: order) else {
            throw ControlProblem("the dry run was of other jobs; look again what there is")
        }
        return kept.remove(at: place).found
    }
}
