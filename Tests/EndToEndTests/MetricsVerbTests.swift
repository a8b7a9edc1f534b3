import Files
import Glibc
import SystemPackage
import TestSupport
import Testing

/// What a monitor scrapes of a real daemon.
@Suite(.timeLimit(.minutes(5))) struct MetricsVerbTests: DaemonTests {
    let scratch: ScratchFolder
    private static let promtool = Tool.find("promtool")
    private static let python = Tool.python(with: "prometheus_client")

    init() throws {
        scratch = try ScratchFolder()
        try write("a", stages: "[run: { command: [sh, -c, 'test {stem} != bad'] }]")
    }

    private func value(_ series: String) throws -> String? {
        try run("metrics").text.split(separator: "\n").first { $0.hasPrefix(series + " ") }
            .map { String($0.dropFirst(series.count + 1)) }
    }

    private func processed() throws -> String? { try value(#"dropmill_jobs_total{pipeline="a",outcome="processed"}"#) }

    @Test func countersGoOnOverDeathAndWithoutADaemonThereIsNone() async throws {
        let down = try run("metrics")
        #expect(try run("metrics", "--label", "le=1").status == 64)
        #expect(down.status == 0 && down.text.contains("dropmill_up 0\n") && !down.text.contains("dropmill_jobs"))
        var daemon = try await start()
        #expect(try processed() == "0")
        for name in ["one", "two", "bad.x", "three"] { try scratch.write("12345", to: "pipelines/a-in/\(name)") }
        #expect(try await eventually { try processed() == "3" })
        let failures = #"dropmill_job_failures_total{pipeline="a",stage="run",code="run.failed"}"#
        #expect(try await eventually { try value(failures) == "1" })
        #expect(try value(#"dropmill_job_bytes_total{pipeline="a",outcome="processed"}"#) == "15")
        #expect(try value(#"dropmill_stage_duration_seconds_count{pipeline="a",stage="run"}"#) == "4")
        try daemon.send(SIGKILL)
        _ = try daemon.wait()
        daemon = try await start()
        #expect(try processed() == "3" && value(failures) == "1")
        #expect(try value(#"dropmill_job_duration_seconds_count{pipeline="a"}"#) == "4")
        try scratch.write("x", to: "pipelines/a-in/four")
        #expect(try await eventually { try processed() == "4" })
        try stop(&daemon)
    }

    /// It writes to the journal beside the daemon.
    @Test func whatIsForgottenBesideADaemonStaysCounted() async throws {
        try write("b", stages: "[run: { command: [sleep, '600'] }]")
        var daemon = try await start()
        try scratch.write("x", to: "pipelines/b-in/stuck")
        #expect(try await eventually { try run("jobs", "--state", "running").text.contains("stuck") })
        try daemon.send(SIGKILL)
        _ = try daemon.wait()
        try Folder.remove(scratch.path("pipelines/b.yaml"))
        daemon = try await start()
        #expect(try run("forget", "stuck").status == 0)
        try write("b", stages: "[checksum]")
        #expect(try run("reload").status == 0)
        try scratch.write("x", to: "pipelines/b-in/next")
        #expect(try await eventually { try value(#"dropmill_jobs_total{pipeline="b",outcome="processed"}"#) == "1" })
        #expect(try value(#"dropmill_jobs_total{pipeline="b",outcome="lost"}"#) == "1")
        try stop(&daemon)
    }

    @Test func whatPeopleAndReloadsDoIsSeen() async throws {
        var daemon = try await start()
        let paused = #"dropmill_pipeline_paused{pipeline="a",reason="person"}"#
        #expect(try value(paused) == "0")
        #expect(try run("pause").status == 0)
        // However short ago the last look was.
        #expect(try value(paused) == "1")
        try scratch.write("x", to: "pipelines/a-in/secret-name")
        #expect(try await eventually { try value(#"dropmill_drops_waiting{pipeline="a"}"#) == "1" })
        #expect(try await eventually { try value(#"dropmill_oldest_unfinished_seconds{pipeline="a"}"#) != "0" })
        try scratch.write("inbox: [", to: "pipelines/a.yaml")
        #expect(try run("reload").status == 78)
        #expect(try await eventually { try value("dropmill_config_last_reload_successful") == "0" })
        let text = try run("metrics").text
        #expect(!text.contains("secret-name") && !text.contains("\nprocess_"))
        #expect(text.contains(#"dropmill_filesystem_free_bytes{pipeline="a",folder="#))
        try stop(&daemon)
    }

    @Test(.enabled(if: promtool != nil, Comment(rawValue: Tool.skip("promtool"))))
    func prometheusHasNoComplaint() async throws {
        var daemon = try await start()
        try scratch.write("x", to: "pipelines/a-in/one")
        #expect(try await eventually { try processed() == "1" })
        let labelled = try run("metrics", "--process", "--label", "daemon=a \"b\"").text
        #expect(labelled.contains(#"process_open_fds{daemon="a \"b\""} "#))
        try scratch.write(labelled, to: "text")
        let promtool = try #require(Self.promtool)
        let checked = try Tool("/bin/sh").run(["-c", "exec \(promtool.path) check metrics <text"], in: scratch.path)
        #expect(checked.status == 0 && checked.text.isEmpty, "\(checked.text)")
        let docs = FilePath(#filePath).removingLastComponent().appending("../../docs/alerts.yaml").lexicallyNormalized()
        let rules = try promtool.run(["check", "rules", docs.string])
        #expect(rules.status == 0, "\(rules.text)")
        try stop(&daemon)
    }

    @Test(.enabled(if: python != nil, Comment(rawValue: Tool.skip("Python's prometheus_client"))))
    func openMetricsIsWhatItSays() async throws {
        var daemon = try await start()
        try scratch.write("x", to: "pipelines/a-in/one")
        #expect(try await eventually { try processed() == "1" })
        try scratch.write(try run("metrics", "--openmetrics").text, to: "text")
        let parse = """
            from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse
            print(len(list(parse(open("text").read()))))
            """
        let parsed = try #require(Self.python).run(["-c", parse], in: scratch.path)
        #expect(parsed.status == 0 && Int(parsed.text.dropLast()).map { $0 > 15 } == true, "\(parsed.text)")
        try stop(&daemon)
    }
}
