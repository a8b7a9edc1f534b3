import Glibc
import TestSupport
import Testing

/// `dismiss`, with a daemon and without one.
@Suite(.timeLimit(.minutes(5))) struct DismissVerbTests: DaemonTests {
    let scratch: ScratchFolder

    init() throws {
        scratch = try ScratchFolder()
        try write("a", stages: "[run: { command: [test, -e, \(scratch.path.string)/mended] }]")
    }

    /// How many failures `status` counts.
    private func failed() throws -> String? {
        try run("status", "--json").text.firstMatch(of: /"failed":(\d+)/).map { String($0.output.1) }
    }

    @Test func whatNobodyWillRetryCountsNoMore() async throws {
        var daemon = try await start()
        for name in ["one", "two", "three", "four"] { try scratch.write(name, to: "pipelines/a-in/\(name)") }
        try #require(try await eventually { try failed() == "4" }, "\(daemon.transcript)")
        let groups = try run("failures", "--pipeline", "a", "--since", "24h")
        #expect(
            groups.status == 0 && groups.text.contains(/\ 4 +a +run\.failed +15 B .* for '…'\.\n$/), "\(groups.text)")
        #expect(try run("failures", "--json").text.hasPrefix(#"{"total":4,"groups":[{"pipeline":"a","#))
        let dry = try run("dismiss", "--code", "run.failed", "--dry-run")
        #expect(dry.status == 0 && dry.text.hasPrefix("4 jobs, 15 B: "), "\(dry.text)")
        let one = try run("dismiss", "one")
        #expect(one.status == 0 && one.text.hasSuffix(" dismissed\n"), "\(one.text)")
        #expect(try failed() == "3" && scratch.exists("pipelines/a-failed/one"))
        let again = try run("dismiss", "one", "nothing")
        #expect(again.status == 1 && again.text.contains(" was dismissed already, by "), "\(again.text)")
        #expect(again.text.contains("error: nothing: no job has the id or name 'nothing'"), "\(again.text)")
        #expect(try run("show", "one").text.contains(/dismissed +by \w+, \d/))
        #expect(try run("show", "one", "--json").text.contains(#""dismissed":{"by":""#))
        // What is sent in again is no failure any more, dismissed or not.
        try scratch.write("", to: "mended")
        #expect(try run("retry", "one", "two").status == 0)
        try #require(try await eventually { try failed() == "2" }, "\(daemon.transcript)")
        let late = try run("dismiss", "two")
        #expect(late.status == 1 && late.text.contains("it has not failed: it is processed"), "\(late.text)")
        let rest = try run("dismiss", "--code", "run.failed", "--pipeline", "a")
        #expect(rest.status == 0 && rest.text.split(separator: "\n").count == 2, "\(rest.text)")
        #expect(try failed() == "0")
        let none = try run("dismiss", "--code", "run.failed")
        #expect(none.status == 1 && none.text == "no failed job matches that is not dealt with yet\n", "\(none.text)")
        for verb in ["dismiss", "failures"] {
            let unknown = try run(verb, "--pipeline", "b")
            #expect(unknown.status == 1 && unknown.text.contains("did you mean 'a'?"), "\(unknown.text)")
        }
        let nothing = try run("failures")
        #expect(nothing.status == 1 && nothing.text == "nothing has failed that is not dealt with yet\n")
        let audit = try run("audit", "--verb", "dismiss").text
        #expect(audit.contains(/dismiss +--pipeline a --code run.failed → 2 dismissed;/), "\(audit)")
        try stop(&daemon)
    }

    @Test func itIsARunThatCanBeFollowedAndEnded() async throws {
        var daemon = try await start()
        // One after the other, so that it is known which is the oldest.
        for name in ["1", "2", "3", "4"] {
            try scratch.write(name, to: "pipelines/a-in/\(name)")
            try #require(try await eventually { try failed() == name }, "\(daemon.transcript)")
        }
        var client = try await client()
        let line = try #require(
            try run("status").text.split(separator: "\n").first { $0.contains("is under way, 3 jobs are left") })
        #expect(line.hasPrefix("dismiss "), "\(line)")
        #expect(try run("halt").status == 0)
        #expect(try client.wait() == 1)
        #expect(client.transcript.contains("error: it was halted; 3 jobs are not dismissed"), "\(client.transcript)")
        #expect(try failed() == "3")
        try stop(&daemon)
        // And without a daemon.
        client = try await self.client()
        try client.send(SIGINT)
        #expect(try client.wait() == 1)
        #expect(
            client.transcript.contains("error: it was interrupted; 2 jobs are not dismissed"), "\(client.transcript)")
        #expect(try run("dismiss", "--code", "run.failed", "--limit", "1", "--dry-run").text == "1 job, 1 B: 3\n")
        let audit = try run("audit", "--verb", "dismiss").text
        #expect(audit.contains("--code run.failed --rate 1/h → 1 dismissed, 3 left; "), "\(audit)")
        #expect(audit.contains("--code run.failed --rate 1/h → 1 dismissed, 2 left; "), "\(audit)")
    }

    /// One that has dismissed the oldest, and has an hour until the next.
    private func client() async throws -> DropmillProcess {
        let log = "client-\(try run("audit").text.count)"
        let client = try DropmillProcess(
            ["dismiss", "--code", "run.failed", "--rate", "1/h"], in: scratch.path, log: scratch.path(log))
        try #require(try await eventually { try client.text().contains(" dismissed\n") }, "\(client.transcript)")
        return client
    }

    @Test func withoutADaemonTheVerbDoesIt() async throws {
        try scratch.write("one", to: "pipelines/a-in/one")
        #expect(try run("run", "--once").status == 1)
        #expect(try failed() == "1")
        for wrong in [["dismiss"], ["dismiss", "one", "--code", "x"], ["dismiss", "--state", "processed"]] {
            let refused = try Tool(DropmillProcess.binary).run(wrong, in: scratch.path)
            #expect(refused.status == 64, "\(refused.text)")
        }
        #expect(try run("dismiss", "--state", "failed").status == 0)
        #expect(try run("retry", "--failed").text == "no failed job has its original in place\n")
        #expect(try failed() == "0" && run("audit").text.contains(/dismiss +--state failed → 1 dismissed/))
        // The folder stays, and what is in it can still go in.
        try scratch.write("", to: "mended")
        #expect(try run("retry", "one").status == 0 && run("run", "--once").status == 0)
        #expect(scratch.exists("pipelines/a-done/one"))
    }
}
