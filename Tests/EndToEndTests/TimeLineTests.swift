import Files
import FoundationEssentials
import Glibc
import SystemPackage
import TestSupport
import Testing

/// The time line that `show --json` prints.
@Suite(.timeLimit(.minutes(5))) struct ShownTimeLineTests: DaemonTests {
    let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private struct Shown: Decodable {
        struct Line: Decodable {
            struct Hold: Decodable {
                var code, text, from: String
                var for_s: Double
            }

            struct Row: Decodable {
                var stage: Int?
                var kind: String
                var spans: [Span]
            }

            struct Span: Decodable {
                var kind, from: String
                var to, outcome, text: String?
                var attempt: Int?
                var for_s: Double?
            }

            var first_seen: String?
            var held: [Hold]
            var rows: [Row]
        }

        var claimed_at: String
        var timeline: Line
    }

    private func shown(_ name: String) throws -> Shown.Line {
        let text = try run("show", name, "--json").text
        return try JSONDecoder().decode(Shown.self, from: Data(text.utf8)).timeline
    }

    @Test func aJobThatWasHeldAndTriedAgainIsToldWithItsWaits() async throws {
        let script =
            "[ -e \(scratch.path.string)/again ] || { touch \(scratch.path.string)/again; exit 75; }; sleep 0.5"
        try write(
            "a", stages: "[checksum, run: { command: [sh, -c, '\(script)'] }]", "retry: { backoff: 200ms }\n")
        var daemon = try await start()
        try scratch.write("x", to: "pipelines/a-in/held")
        let writer = try OpenFile.open(scratch.path("pipelines/a-in/held"), O_WRONLY)
        #expect(
            try await eventually {
                let text = try run("explain", "pipelines/a-in/held").text
                return text.contains("held open for writing by")
            })
        // Shorter than that nothing is told.
        let begun = MonotonicTime.now()
        #expect(await eventually { .now() - begun > .milliseconds(150) })
        try writer.close()
        #expect(
            try await eventually {
                try run("jobs", "--state", "running,processed").text.contains("held")
                    && shown("held").rows[2].spans.last?.kind == "run"
            })
        #expect(try await eventually { try run("jobs", "--state", "processed").text.contains("held") })
        let line = try shown("held")
        #expect(line.first_seen == line.rows.first?.spans.first?.from)
        #expect(line.rows.map(\.kind) == ["inbox", "checksum", "run", "settling"])
        #expect(line.rows.map(\.stage) == [nil, 0, 1, nil])
        let spans = line.rows[2].spans.filter { $0.kind != "queued" }
        #expect(spans.map(\.kind) == ["run", "deferred", "run"])
        #expect(spans.map(\.outcome) == ["again", nil, "done"] && spans.map(\.attempt) == [1, nil, 2])
        #expect(try #require(spans.last?.for_s) >= 0.5)
        #expect(line.rows[3].spans.last?.outcome == "done")
        let all = line.rows.flatMap(\.spans).map(\.from)
        #expect(all == all.sorted(), "one after the other")
        let open = line.held.first { $0.code == "open-writer" }
        #expect(open.map { $0.text.hasPrefix("held open for writing by ") && $0.for_s >= 0.1 } == true)
        let story = try run("show", "held").text
        #expect(story.contains("seen in the inbox") && story.contains(" after it was seen"), "\(story)")
        try daemon.end()
    }
}
