import Files
import Journal
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@testable import DropmillCommand
@testable import PipelineEngine

/// What a monitor reads.
@Suite("Metrics") struct MetricsTests {
    private static let docs = FilePath(#filePath).removingLastComponent().appending("../../docs").lexicallyNormalized()

    private func report(_ pipelines: MetricsReport.Pipeline...) -> MetricsReport {
        let time = Timestamp(seconds: 1000, nanoseconds: 0)
        return MetricsReport(
            version: "1.2.3", startedAt: time, reloadedAt: time, pipelines: pipelines, journalBytes: 12,
            process: ProcessFigures(), now: Timestamp(seconds: 1100, nanoseconds: 0))
    }

    private func gauges(_ name: String, stages: [String] = ["unpack", "move", "move"]) -> PipelineGauges {
        PipelineGauges(
            name: name, stages: stages, folders: [], waiting: 7, isTroubled: false,
            hold: HoldRecord(pipeline: name, kind: .pause, by: "anna", user: 1, since: .now()))
    }

    private func text(_ report: MetricsReport, as format: MetricsText.Format = .prometheus) -> [Substring] {
        MetricsText.text(of: report.families, as: format).split(separator: "\n")
    }

    @Test("All there is of a pipeline is there from the start, with 0")
    func fromTheStart() {
        let lines = text(report(.init(gauges: gauges("a"), figures: Figures())))
        for line in [
            #"dropmill_jobs_total{pipeline="a",outcome="cancelled"} 0"#,
            #"dropmill_job_bytes_total{pipeline="a",outcome="lost"} 0"#,
            #"dropmill_stage_retries_total{pipeline="a",stage="move"} 0"#,
            #"dropmill_stage_duration_seconds_bucket{pipeline="a",stage="unpack",le="+Inf"} 0"#,
            #"dropmill_job_duration_seconds_count{pipeline="a"} 0"#, #"dropmill_jobs{pipeline="a",state="settling"} 0"#,
            #"dropmill_drops_waiting{pipeline="a"} 7"#, #"dropmill_last_settled_timestamp_seconds{pipeline="a"} 0"#,
            #"dropmill_pipeline_paused{pipeline="a",reason="person"} 1"#,
            #"dropmill_pipeline_paused{pipeline="a",reason="trouble"} 0"#,
            #"dropmill_build_info{version="1.2.3"} 1"#, "dropmill_start_time_seconds 1000",
        ] {
            #expect(lines.count { $0 == line } == 1, "\(line)")
        }
        #expect(Set(lines).count == lines.count, "nothing is there twice")
    }

    @Test("Where nodes share a journal what is one's own says whose it is, and all tell of all")
    func nodes() {
        var report = report(.init(gauges: gauges("a"), figures: Figures()))
        let alone = text(report)
        #expect(!alone.contains { $0.contains("node") })
        report.node = "mill-1"
        report.nodes = [
            .init(name: "mill-1", isUp: true, jobs: 3, lease: .seconds(24)),
            .init(name: "mill-2", jobs: 1, paused: ["a"]),
        ]
        let lines = text(report)
        for line in [
            #"dropmill_up{node="mill-1"} 1"#, #"dropmill_drops_waiting{node="mill-1",pipeline="a"} 7"#,
            #"dropmill_jobs_total{pipeline="a",outcome="cancelled"} 0"#,
            #"dropmill_last_settled_timestamp_seconds{pipeline="a"} 0"#, #"dropmill_node_up{node="mill-1"} 1"#,
            #"dropmill_node_up{node="mill-2"} 0"#, #"dropmill_node_jobs{node="mill-1"} 3"#,
            #"dropmill_node_lease_seconds{node="mill-1"} 24"#, #"dropmill_node_lease_seconds{node="mill-2"} 0"#,
            #"dropmill_node_pipeline_paused{node="mill-2",pipeline="a"} 1"#,
        ] {
            #expect(lines.count { $0 == line } == 1, "\(line)")
        }
        #expect(Set(lines).count == lines.count, "nothing is there twice")
    }

    @Test("A histogram's classes are sums of those below")
    func histograms() throws {
        var figures = Figures()
        var job = JobRecord(
            claimed: Job(
                id: try #require(JobID("01HZX20000000000000000000A")), pipeline: "a",
                drop: Drop(
                    name: try #require(FileName("secret.pdf")), size: 5,
                    droppedAt: Timestamp(seconds: 0, nanoseconds: 0)),
                claimedAt: Timestamp(seconds: 2, nanoseconds: 0), folder: "/w"),
            identity: FileIdentity(device: 1, inode: 2), definition: "x")
        (job.state, job.finishedAt) = (.processed, Timestamp(seconds: 7, nanoseconds: 0))
        figures.add(job)
        let report = report(.init(gauges: gauges("a"), figures: figures, longestWait: .seconds(3)))
        let lines = text(report)
        for line in [
            #"dropmill_job_duration_seconds_bucket{pipeline="a",le="3"} 0"#,
            #"dropmill_job_duration_seconds_bucket{pipeline="a",le="10"} 1"#,
            #"dropmill_job_duration_seconds_bucket{pipeline="a",le="+Inf"} 1"#,
            #"dropmill_job_duration_seconds_sum{pipeline="a"} 5"#, #"dropmill_ready_wait_seconds_sum{pipeline="a"} 2"#,
            #"dropmill_oldest_unfinished_seconds{pipeline="a"} 3"#,
        ] {
            #expect(lines.contains(Substring(line)), "\(line)")
        }
        #expect(!lines.joined().contains("secret"))
    }

    @Test("Labels are escaped, and OpenMetrics has no two families of one name")
    func text() {
        let odd = gauges("a\"b\\c\nd")
        let plain = text(report(.init(gauges: odd, figures: Figures())))
        #expect(plain.contains(#"dropmill_drops_waiting{pipeline="a\"b\\c\nd"} 7"#))
        #expect(plain.contains("# TYPE dropmill_jobs_total counter") && plain.contains("# TYPE dropmill_jobs gauge"))
        let open = text(report(.init(gauges: odd, figures: Figures())), as: .openMetrics)
        #expect(open.contains("# TYPE dropmill_jobs_total unknown") && open.contains("# TYPE dropmill_jobs gauge"))
        #expect(open.contains("# TYPE dropmill_job_bytes counter") && open.last == "# EOF")
        let types = open.filter { $0.hasPrefix("# TYPE ") }.map { $0.split(separator: " ")[2] }
        #expect(Set(types).count == types.count)
        #expect(MetricsText.number(0.1) == "0.1" && MetricsText.number(3600) == "3600")
        #expect(MetricsText.number(.infinity) == "+Inf" && MetricsText.number(-.infinity) == "-Inf")
    }

    @Test("Without the journal there are no counters, and no names of labels are taken that are not any or are its own")
    func withoutCounters() {
        let lines = text(report(.init(gauges: gauges("a"), figures: nil)))
        #expect(!lines.contains { $0.hasPrefix("dropmill_job") && $0.contains("_total{") })
        #expect(lines.contains(#"dropmill_drops_waiting{pipeline="a"} 7"#))
        for name in ["", "1a", "a-b", "__a", "le", "pipeline", "ä", "a b"] { #expect(!MetricsText.isLabel(name)) }
        #expect(MetricsText.isLabel("instance") && MetricsText.isLabel("_a1"))
        #expect(MetricsText.problem(with: ["daemon": "press"]) == nil)
        let long = String(repeating: "x", count: 65)
        let many = Dictionary(uniqueKeysWithValues: (0..<5).map { ("l\($0)", "") })
        for labels in [["le": ""], ["a": long], [long: ""], many] { #expect(MetricsText.problem(with: labels) != nil) }
        let labelled = MetricsText.text(of: [.down], labels: ["b": "\"", "a": "1"])
        #expect(labelled.hasSuffix("\ndropmill_up{a=\"1\",b=\"\\\"\"} 0\n"), "\(labelled)")
    }

    @Test("docs/operating.md, the alerts and the dashboard have these metrics and no others")
    func documents() throws {
        var report = report()
        report.nodes = [.init(name: "mill-1")]
        let names = Set(
            report.families.map { $0.kind == .counter ? $0.name + "_total" : $0.name }.filter {
                $0.hasPrefix("dropmill_")
            })
        func found(_ file: String, in part: (String) -> Substring? = { $0[...] }) throws -> Set<String> {
            let text = String(decoding: try ScratchFolder.read(Self.docs.appending(file)), as: UTF8.self)
            return Set(
                try #require(part(text)).matches(of: /dropmill_[a-z_]+/).map { match in
                    let name = String(match.output)
                    return ["_bucket", "_sum", "_count"].first { name.hasSuffix($0) }
                        .map { String(name.dropLast($0.count)) } ?? name
                })
        }
        let section = { (text: String) in
            text.split(separator: "\n## ").first { $0.hasPrefix("Metrics\n") }
        }
        #expect(try found("operating.md", in: section) == names)
        for file in ["alerts.yaml", "grafana.json"] {
            let used = try found(file)
            #expect(used.count > 5 && used.isSubset(of: names), "\(file): \(used.subtracting(names))")
        }
    }
}
