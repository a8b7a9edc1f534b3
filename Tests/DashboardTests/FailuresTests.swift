import SystemPackage
import TestSupport
import TestTools
import Testing

@testable import Dashboard

/// What failed, through the server of a daemon that runs.
@Suite("Failures", .timeLimit(.minutes(5))) struct FailuresTests {
    private let scratch: ScratchFolder
    private let server: TestServer
    private let token: String

    init() throws {
        scratch = try ScratchFolder()
        try scratch.write(
            """
            inbox: in
            processed: done
            failed: failed
            ready: { quiet: 50ms }
            stages: [run: { command: ['false'] }]
            """, to: "pipelines/a.yaml")
        server = try TestServer(daemon: scratch.path(".dropmill-state"))
        token = try server.token(.operate)
    }

    private func post(_ path: String, _ body: String) throws -> RawAnswer {
        try server.send("POST /api/v1/\(path)", ["Content-Type: application/json"], body: body, token: token)
    }

    private var groups: RawAnswer { get throws { try server.send("GET /api/v1/failed", token: token) } }

    @Test("They are groups, which can be dismissed, one by one and all together")
    func groupsAreDismissed() async throws {
        var daemon = try DropmillProcess(["run"], in: scratch.path, log: scratch.path("log"))
        defer { do { try daemon.end() } catch { /* It has ended. */  } }
        for name in ["one", "two", "three"] { try scratch.write(name, to: "pipelines/in/\(name)") }
        try #require(await eventually { try groups.body.contains(#""total":3,"#) }, "\(daemon.transcript)")
        let told = try groups.body
        #expect(told.contains(#""pipeline":"a","code":"run.failed","jobs":3,"bytes":11,"#), "\(told)")
        #expect(told.contains("exited with status 1 for '…'.") && told.contains(#""retry":true"#), "\(told)")
        #expect(try server.send("GET /failed", token: token).status == 200)
        #expect(try server.send("GET /api/v1/failed?by=producer", token: token).code == "query.unknown")
        #expect(try server.send("GET /api/v1/failed?pipeline=b", token: token).body.contains(#""total":0,"groups":[]"#))

        let job = try #require(told.firstMatch(of: /"newest":\[\{"id":"(\w+)"/)?.output.1)
        let one = try post("jobs/dismiss", #"{"jobs":["\#(job)"]}"#)
        #expect(one.body.contains(#"{"results":[{"job":"\#(job)","done":true,"text":"dismissed"}]}"#))
        let again = try post("jobs/dismiss", #"{"jobs":["\#(job)"]}"#)
        #expect(again.body.contains(#""done":true,"text":"was dismissed already, by operate-er on "#), "\(again.body)")
        let story = try server.send("GET /api/v1/jobs/\(job)", token: token).body
        #expect(story.contains(#""dismissed":{"by":"operate-er","at":""#), "\(story)")

        let filter = #""verb":"dismiss","filter":{"state":"failed","pipeline":"a","code":"run.failed"}"#
        let preview = try post("runs/preview", "{\(filter)}")
        let text = preview.body
        #expect(text.contains(#""jobs":2,"#) && text.contains(#""more":false"#), "\(text)")
        #expect(try groups.body.contains(#""total":2,"#), "nothing was changed")
        let key = try #require(preview["key"])
        let run = try #require(try post("runs", "{\(filter),\"key\":\"\(key)\"}")["run"])
        var end = ""
        #expect(
            try await eventually {
                end = try server.send("GET /api/v1/runs/\(run)", token: token).body
                return end.contains(#""over":true"#)
            })
        #expect(end.matches(of: /"done":true,[^}]*"text":"dismissed"/).count == 2, "\(end)")
        #expect(try groups.body.contains(#""total":0,"groups":[]"#))
        #expect(try server.send("GET /api/v1/changes?verb=dismiss", token: token).body.contains("2 dismissed; "))
    }

    @Test(
        "What makes no sense is refused before a daemon is asked",
        arguments: [
            ("jobs/dismiss", #"{"filter":{"code":"run.failed"}}"#, "body.unknown"),
            ("jobs/dismiss", "{}", "body.malformed"),
            ("runs/preview", #"{"verb":"dismiss","filter":{"state":"cancelled"}}"#, "body.filter"),
            ("runs/preview", #"{"verb":"dismiss","filter":{"sender":"anna"}}"#, "body.filter"),
            ("runs/preview", #"{"verb":"dismiss","filter":{"since":"yesterday"}}"#, "body.time"),
            ("runs", #"{"verb":"dismiss","filter":{"code":"run.failed"}}"#, "body.key"),
            ("runs", #"{"verb":"replay","filter":{"state":"failed"}}"#, "body.filter"),
            ("runs", #"{"verb":"forget","jobs":[]}"#, "body.verb"),
            ("runs", #"{"verb":"retry","filter":{"state":"failed","pipeline":"a"}}"#, "body.key"),
            ("runs", #"{"verb":"retry","filter":{"state":"failed","pipeline":"a"},"key":"1"}"#, "daemon.down"),
        ])
    func refusals(_ path: String, _ body: String, _ code: String) throws {
        #expect(try post(path, body).code == code)
    }
}
