import Files

/// What a node tells of all that share the journal.
extension MetricsReport {
    /// Those of one name, whichever process is it.
    struct Node: Equatable {
        let name: String
        var isUp = false
        var jobs = 0
        var lease = Duration.zero
        var paused: Set<String> = []
    }

    var nodeFamilies: [MetricFamily] {
        guard let nodes, !nodes.isEmpty else { return [] }
        func family(_ name: String, _ help: String, _ value: (Node) -> Double) -> MetricFamily {
            let samples = nodes.map { node in
                MetricFamily.Sample(labels: [.init(name: "node", value: node.name)], value: value(node))
            }
            return MetricFamily(name: name, kind: .gauge, help: help, samples: samples)
        }
        let paused = nodes.flatMap { node in
            node.paused.sorted().map { pipeline in
                MetricFamily.Sample(
                    labels: [.init(name: "node", value: node.name), .init(name: "pipeline", value: pipeline)], value: 1)
            }
        }
        return [
            family("dropmill_node_up", "Whether a node is alive; for a day after its end.") { $0.isUp ? 1 : 0 },
            family("dropmill_node_jobs", "Jobs of a node that are not over.") { Double($0.jobs) },
            family("dropmill_node_lease_seconds", "How much longer a node's lease holds.") { $0.lease.seconds },
            MetricFamily(
                name: "dropmill_node_pipeline_paused", kind: .gauge,
                help: "1 for each pipeline that trouble pauses on a node.", samples: paused),
        ]
    }

    /// A node's own, and not what the journal has counted for all of them.
    static func labelled(_ families: [MetricFamily], by node: String?) -> [MetricFamily] {
        guard let node else { return families }
        return families.map { family in
            guard family.kind == .gauge, family.name != lastEnd else { return family }
            var family = family
            for index in family.samples.indices {
                family.samples[index].labels.insert(.init(name: "node", value: node), at: 0)
            }
            return family
        }
    }

    /// The one of them that the journal knows.
    static let lastEnd = "dropmill_last_settled_timestamp_seconds"
}
