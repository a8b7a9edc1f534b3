import Files
import Journal
import PipelineEngine

/// The daemon's metrics, made of what it knows. Labels are pipelines, stages, codes and states, never names of drops.
struct MetricsReport {
    /// One pipeline, with what is known of it besides.
    struct Pipeline {
        var gauges: PipelineGauges
        /// Nil where the journal cannot be read.
        var figures: Figures?
        /// How long the drop waits that waits longest.
        var longestWait: Duration?
        /// Bytes that are free for an ordinary user, by folder.
        var free: [(folder: String, bytes: UInt64)] = []
    }

    var version: String
    var startedAt: Timestamp
    /// Whether the last reload was taken, and when the files in force were.
    var isReloaded = true
    var reloadedAt: Timestamp
    var pipelines: [Pipeline]
    var journalBytes: Int64?
    var process: ProcessFigures?
    var now: Timestamp
    /// What this node is called, where several share the journal, and those that there are, where they are known.
    var node: String?
    var nodes: [Node]?

    var families: [MetricFamily] { Self.labelled(daemon + counters + gauges, by: node) + nodeFamilies }

    /// What this process takes.
    var processFamilies: [MetricFamily] { process?.families(startedAt: startedAt.unixSeconds) ?? [] }

    // MARK: The daemon

    private var daemon: [MetricFamily] {
        var families = [
            Self.gauge("dropmill_build_info", "Always 1; which version of Dropmill runs.", 1, ["version": version]),
            Self.gauge("dropmill_up", "Whether the daemon answers.", 1),
            Self.gauge("dropmill_start_time_seconds", "When the daemon was started.", startedAt.unixSeconds),
            Self.gauge(
                "dropmill_config_last_reload_successful", "Whether the last reload of the configuration was taken.",
                isReloaded ? 1 : 0),
            Self.gauge(
                "dropmill_config_last_reload_success_timestamp_seconds",
                "When the configuration that is in force was loaded.", reloadedAt.unixSeconds),
        ]
        if let journalBytes {
            families.append(
                Self.gauge("dropmill_journal_bytes", "Size of the journal and its log.", Double(journalBytes)))
        }
        return families
    }

    // MARK: What has become of jobs

    /// Left out where the journal cannot be read: Prometheus takes a counter that falls for one that was reset.
    private var counters: [MetricFamily] {
        [
            counter("dropmill_jobs", "Jobs that are over.") { _, figures, add in
                for outcome in Figures.Outcome.allCases {
                    add(["outcome": outcome.rawValue], figures.ended[outcome]?.jobs ?? 0)
                }
            },
            counter("dropmill_job_bytes", "Sizes of the drops of jobs that are over.") { _, figures, add in
                for outcome in Figures.Outcome.allCases {
                    add(["outcome": outcome.rawValue], figures.ended[outcome]?.bytes ?? 0)
                }
            },
            counter("dropmill_job_failures", "Jobs that failed, by stage and code.") { _, figures, add in
                let reasons = figures.failures.keys.sorted { ($0.stage, $0.code) < ($1.stage, $1.code) }
                for reason in reasons {
                    add(["stage": reason.stage, "code": reason.code], figures.failures[reason] ?? 0)
                }
            },
            counter("dropmill_stage_retries", "Runs of stages that failed and were followed by another.") {
                pipeline, figures, add in
                for stage in pipeline.kinds(figures.retries.keys) {
                    add(["stage": stage], figures.retries[stage] ?? 0)
                }
            },
            histogram("dropmill_job_duration_seconds", "From the claim of a drop to the end of its job.") {
                [([:] as Labels, $1.durations)]
            },
            histogram("dropmill_stage_duration_seconds", "How long runs of stages took.") { pipeline, figures in
                pipeline.kinds(figures.stages.keys).map { (["stage": $0], figures.stages[$0] ?? Histogram()) }
            },
            histogram("dropmill_ready_wait_seconds", "From the last change of a drop to its claim.") {
                [([:] as Labels, $1.readyWaits)]
            },
        ]
    }

    // MARK: How things stand

    private var gauges: [MetricFamily] {
        [
            gauge("dropmill_jobs", "Jobs that are not over.") { pipeline, add in
                for state in JobRecord.State.unfinished {
                    add(["state": state.rawValue], Double(pipeline.gauges.jobs[state] ?? 0))
                }
            },
            gauge("dropmill_drops_waiting", "Drops that wait in the inbox.") { pipeline, add in
                add([:], Double(pipeline.gauges.waiting))
            },
            gauge("dropmill_oldest_unfinished_seconds", "Age of the oldest drop that is not through; 0 without any.") {
                pipeline, add in
                let claimed = pipeline.gauges.firstClaim.map { now - $0 }
                let oldest = [claimed, pipeline.longestWait].compactMap(\.self).max()
                add([:], max(0, oldest?.seconds ?? 0))
            },
            gauge(Self.lastEnd, "When a job ended last; 0 without any.") { pipeline, add in
                guard let figures = pipeline.figures else { return }
                add([:], figures.lastEnd?.unixSeconds ?? 0)
            },
            gauge("dropmill_pipeline_paused", "Whether trouble, a person or its hours keep the pipeline from working.")
            {
                pipeline, add in
                add(["reason": "hours"], pipeline.gauges.outside != nil ? 1 : 0)
                add(["reason": "person"], pipeline.gauges.hold != nil ? 1 : 0)
                add(["reason": "trouble"], pipeline.gauges.isTroubled ? 1 : 0)
            },
            gauge("dropmill_pipeline_stalled", "Whether something in the pipeline has not moved for long.") {
                pipeline, add in
                add([:], pipeline.gauges.stall != nil ? 1 : 0)
            },
            gauge("dropmill_filesystem_free_bytes", "Bytes that are free on the file system of a folder.") {
                pipeline, add in
                for (folder, bytes) in pipeline.free { add(["folder": folder], Double(bytes)) }
            },
        ]
    }

    // MARK: Families

    private typealias Labels = KeyValuePairs<String, String>

    private static func gauge(
        _ name: String, _ help: String, _ value: Double, _ labels: Labels = [:]
    ) -> MetricFamily {
        MetricFamily(name: name, kind: .gauge, help: help, samples: [.init(labels: list(labels), value: value)])
    }

    private func gauge(
        _ name: String, _ help: String, _ body: (Pipeline, (Labels, Double) -> Void) -> Void
    ) -> MetricFamily {
        family(name, .gauge, help) { pipeline, labels in
            var samples: [MetricFamily.Sample] = []
            body(pipeline) { samples.append(.init(labels: labels + Self.list($0), value: $1)) }
            return samples
        }
    }

    private func counter(
        _ name: String, _ help: String, _ body: (Pipeline, Figures, (Labels, UInt64) -> Void) -> Void
    ) -> MetricFamily {
        family(name, .counter, help) { pipeline, labels in
            guard let figures = pipeline.figures else { return [] }
            var samples: [MetricFamily.Sample] = []
            body(pipeline, figures) {
                samples.append(.init(suffix: "_total", labels: labels + Self.list($0), value: Double($1)))
            }
            return samples
        }
    }

    private func histogram(
        _ name: String, _ help: String, _ body: (Pipeline, Figures) -> [(labels: Labels, histogram: Histogram)]
    ) -> MetricFamily {
        family(name, .histogram, help) { pipeline, labels in
            guard let figures = pipeline.figures else { return [] }
            return body(pipeline, figures).flatMap { more, histogram in
                let labels = labels + Self.list(more)
                var (below, samples) = (UInt64(0), [MetricFamily.Sample]())
                for (place, count) in histogram.counts.enumerated() {
                    below &+= count
                    let bound = place < Histogram.bounds.count ? Histogram.bounds[place] : .infinity
                    samples.append(
                        .init(
                            suffix: "_bucket", labels: labels + [.init(name: "le", value: MetricsText.number(bound))],
                            value: Double(below)))
                }
                samples.append(.init(suffix: "_sum", labels: labels, value: histogram.sum.seconds))
                samples.append(.init(suffix: "_count", labels: labels, value: Double(below)))
                return samples
            }
        }
    }

    private func family(
        _ name: String, _ kind: MetricFamily.Kind, _ help: String,
        _ samples: (Pipeline, [MetricFamily.Label]) -> [MetricFamily.Sample]
    ) -> MetricFamily {
        MetricFamily(
            name: name, kind: kind, help: help,
            samples: pipelines.flatMap { samples($0, [.init(name: "pipeline", value: $0.gauges.name)]) })
    }

    private static func list(_ labels: Labels) -> [MetricFamily.Label] {
        labels.map { MetricFamily.Label(name: $0.key, value: $0.value) }
    }
}

extension MetricsReport.Pipeline {
    /// The kinds of its stages, each once, and those that it had before.
    fileprivate func kinds(_ known: some Sequence<String>) -> [String] { Set(gauges.stages).union(known).sorted() }
}

extension Timestamp {
    /// Seconds since 1970.
    fileprivate var unixSeconds: Double { Double(nanoseconds) / 1e9 }
}
