import Journal
import PipelineKit

/// What nodes that share a journal should have in common besides: their clocks, roughly, and the stages of pipelines.
/// Says once what is not so. Pure.
struct NodeComparison {
    /// What is worth a word; leases go by the database's clock alone.
    private static let tolerance = Duration.seconds(60)

    private var isClockTold = false
    /// What was told of each pipeline, by the other node's name.
    private var told: [String: [String: String]] = [:]

    /// `offset`: how far this host's clock is ahead of the database's.
    mutating func warning(ofClock offset: Duration) -> String? {
        let distance = max(offset, .zero - offset)
        let (isWrong, wasTold) = (distance > Self.tolerance, isClockTold)
        isClockTold = isWrong
        guard isWrong, !wasTold else { return nil }
        let way = offset > .zero ? "ahead of" : "behind"
        return "this host's clock is \(distance.text) \(way) the database's. Leases do not depend on it, but times of "
            + "jobs and '--since' do: set it, by NTP for instance"
    }

    /// `own`: the stages of pipelines here; `others`: what nodes that are alive have said of theirs, by their names.
    mutating func warnings(
        own: [String: Definition], others: [String: [PipelineRecord]]
    ) -> [(pipeline: String, message: String)] {
        var found: [String: [String: String]] = [:]
        for (node, records) in others {
            for record in records {
                guard let mine = own[record.name], let theirs = record.definition, theirs != mine.text else { continue }
                found[record.name, default: [:]][node] = "\(mine.text)\n\(theirs)"
            }
        }
        defer { told = found }
        return found.sorted { $0.key < $1.key }.compactMap { pipeline, nodes in
            let new = nodes.filter { told[pipeline]?[$0.key] != $0.value }.keys.sorted()
            guard !new.isEmpty else { return nil }
            let names = new.map { "'\($0)'" }.joined(separator: ", ")
            return (
                pipeline,
                "its stages here are not those on \(names), by some setting or path. Jobs that go from one to the "
                    + "other begin again at the first stage; have the same file on all nodes"
            )
        }
    }
}
