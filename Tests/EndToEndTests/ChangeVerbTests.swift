import Files
import Glibc
import SystemPackage
import TestSupport
import Testing

/// The verbs that change something in a daemon that runs, and the record of it.
@Suite(.timeLimit(.minutes(5))) struct ChangeVerbTests: DaemonTests {
    let scratch: ScratchFolder

    init() throws {
        scratch = try ScratchFolder()
        try write("a")
    }

    @Test func reloadSaysWhatBecameOfEachPipeline() async throws {
        let nobody = try run("reload")
        #expect(nobody.status == 1 && nobody.text.contains("no daemon runs with the state folder"))
        #expect(try run("reload", "--json").text.contains(#"{"problems":["no daemon runs with"#))
        var daemon = try await start()
        try write("b")
        try write("a", stages: "[move: { to: a-out }]")
        let taken = try run("reload")
        #expect(taken.status == 0, "\(taken.text)")
        #expect(taken.text.contains("a: changed (stage 1)") && taken.text.contains("b: added"))
        try scratch.write("inbox: [", to: "pipelines/b.yaml")
        let refused = try run("reload")
        #expect(refused.status == 78)
        #expect(refused.text.contains("pipelines/b.yaml:") && refused.text.contains("the reload is refused"))
        let audit = try run("audit").text
        #expect(audit.contains("b: added") && audit.contains("refused: "))
        try stop(&daemon)
    }

    @Test func whatIsPausedStaysSoOverARestartUntilItIsResumed() async throws {
        var daemon = try await start()
        #expect(try run("pause", "b").text.contains("there is no pipeline 'b'; did you mean 'a'?"))
        #expect(try run("pause", "nope").text.contains("there is no pipeline 'nope'; there is 'a'"))
        for time in ["0s", "-1h", "0.0001ms", "100000d"] {
            let refused = try run("pause", "--for", time)
            #expect(refused.status == 64 && refused.text.contains("'\(time)'"), "\(refused.text)")
        }
        #expect(try run("resume").text == "no pipeline is held\n")
        let paused = try run("pause", "a", "--reason", "RIP is down", "--for", "2h")
        #expect(paused.status == 0, "\(paused.text)")
        #expect(paused.text.contains(": RIP is down; until "))
        try scratch.write("x", to: "pipelines/a-in/one")
        #expect(try await eventually { try run("explain", "pipelines/a-in/one").text.contains("RIP is down") })
        try stop(&daemon)
        daemon = try await start()
        #expect(try run("status").text.contains("RIP is down"))
        #expect(scratch.exists("pipelines/a-in/one"))
        #expect(try run("resume").text.contains("a: resumed"))
        #expect(await eventually { scratch.exists("pipelines/a-done/one") })
        try stop(&daemon)
        // Without a daemon it is put on record, and the next start obeys it.
        #expect(try run("pause").status == 0)
        try scratch.write("x", to: "pipelines/a-in/two")
        let once = try run("run", "--once")
        #expect(once.status == 1 && scratch.exists("pipelines/a-in/two"), "\(once.text)")
        let verbs = try run("audit", "--json").text
        #expect(verbs.contains(#""verb":"hold""#) && verbs.contains(#"a: resumed"#))
        let lines = try run("audit").text
        #expect(lines.contains(/pause +a --reason "RIP is down" --for 2h → a: paused/), "\(lines)")
        #expect(lines.contains(/resume +→ a: resumed/), "\(lines)")
    }

    @Test func whereNoPipelineIsThereIsNothingToHold() async throws {
        try Folder.remove(scratch.path("pipelines"))
        try Folder.make(scratch.path("pipelines"))
        func check() throws {
            for verb in ["pause", "drain"] {
                let held = try run(verb)
                #expect(held.status == 1 && held.text == "error: there is no pipeline to be held\n", "\(held.text)")
            }
            let lifted = try run("resume")
            #expect(lifted.status == 0 && lifted.text == "no pipeline is held\n", "\(lifted.text)")
        }
        var daemon = try DropmillProcess(["run", "--allow-none"], in: scratch.path, log: scratch.path("log"))
        #expect(try await eventually { try run("status").text.hasPrefix("running since") })
        try check()
        try stop(&daemon)
        try check()
    }

    @Test func aJobThatIsCancelledSettlesIntoFailedAndSaysWho() async throws {
        try write("a", stages: "[run: { command: [sleep, '600'] }]")
        var daemon = try await start()
        try scratch.write("x", to: "pipelines/a-in/one")
        #expect(try await eventually { try run("jobs", "--state", "running").text.contains("one") })
        #expect(try run("cancel", "--pipeline", "a", "--dry-run").text.contains("1 job, 1 B: one"))
        for verb in ["cancel", "release", "jobs"] {
            let unknown = try run(verb, "--pipeline", "aa")
            #expect(unknown.status == 1 && unknown.text.contains("there is no pipeline 'aa'; did you mean 'a'?"))
        }
        #expect(try run("cancel", "--pipeline", "a", "--limit", "-1").text.contains("--limit must be at least 1"))
        #expect(try run("jobs", "--since", "2h ago").status == 0)
        let cancelled = try run("cancel", "one")
        #expect(cancelled.status == 0 && cancelled.text.contains("its stage 'run' is being stopped"))
        #expect(await eventually { scratch.exists("pipelines/a-failed/one") })
        #expect(try await eventually { try run("jobs", "--state", "cancelled").text.contains("one") })
        let again = try run("cancel", "one")
        #expect(again.status == 1 && again.text.contains("is over: cancelled"))
        // Nobody has to look after it, and it comes back only where somebody asks for that.
        #expect(try run("jobs", "--state", "failed").status == 1 && run("failures").text.contains("one") == false)
        #expect(try run("dismiss", "one").text.contains("it was cancelled, which is no failure"))
        #expect(try run("retry", "--pipeline", "a").text.contains("no failed job that matches"))
        #expect(try run("retry", "--state", "cancelled", "--dry-run").text.contains("1 job, 1 B: one"))
        #expect(try run("show", "one", "--json").text.contains(#""state":"cancelled""#))
        try stop(&daemon)
    }

    @Test func whatIsUrgentComesFirst() async throws {
        try write("a", stages: "[run: { command: [sleep, '600'] }]\nactive: { jobs: 2 }")
        #expect(try run("bump", "pipelines/a-in/x").status == 1, "no daemon has run")
        var daemon = try await start()
        for name in ["one", "two"] { try scratch.write("x", to: "pipelines/a-in/\(name)") }
        #expect(try await eventually { try run("jobs", "--state", "running").status == 0 })
        #expect(try await eventually { try run("jobs", "--state", "queued").status == 0 })
        for name in ["three", "four"] { try scratch.write("x", to: "pipelines/a-in/\(name)") }
        #expect(try await eventually { try run("bump", "pipelines/a-in/four").status == 0 })
        let last = try run("bump", "three", "--last")
        #expect(last.status == 0 && last.text.contains("three: last of those that wait to be claimed"), "\(last.text)")
        let running = try run("jobs", "--state", "running", "--json").text.contains(#""name":"one""#) ? "one" : "two"
        let job = try run("bump", running == "one" ? "two" : "one")
        #expect(job.status == 0 && job.text.contains("first of those that wait for 'run'"), "\(job.text)")
        let busy = try run("bump", running)
        #expect(busy.status == 1 && busy.text.contains("its stage 'run' is running"), "\(busy.text)")
        #expect(try run("bump", "pipelines/a-in/for").text.contains("did you mean 'four'?"))
        try scratch.link("pipelines/a-in/link", to: "/etc/passwd")
        #expect(try run("bump", "pipelines/a-in/link").text.contains("is a symbolic link"))
        #expect(try run("bump", "pipelines/a.yaml").text.contains("'pipelines/a.yaml' is in no inbox"))
        #expect(try run("bump", "thre").text.contains("did you mean 'three'?"))
        #expect(try run("audit").text.contains("first of those that wait for 'run'"))
        try daemon.send(SIGKILL)
        _ = try daemon.wait()
    }

    @Test func withoutADaemonTheNextStartSettlesWhatWasCancelled() async throws {
        try write("a", stages: "[run: { command: [sleep, '600'] }]")
        var daemon = try await start()
        try scratch.write("x", to: "pipelines/a-in/one")
        #expect(try await eventually { try run("jobs", "--state", "running").text.contains("one") })
        try daemon.end()
        let cancelled = try run("cancel", "one")
        #expect(cancelled.status == 0, "\(cancelled.text)")
        #expect(cancelled.text.contains("cancelled; it settles as soon as it may: no daemon runs its pipeline 'a'"))
        #expect(try run("cancel", "one").status == 0, "once is enough")
        let verbs = try run("audit").text
        #expect(verbs.contains("cancel") && verbs.contains("it settles as soon as it may"))
        let once = try run("run", "--once")
        #expect(once.status == 1 && scratch.exists("pipelines/a-failed/one"), "\(once.text)")
        let story = try run("show", "one").text
        #expect(story.contains("operator.cancelled") && story.contains("cancelled: by "))
        let again = try run("cancel", "one")
        #expect(again.status == 1 && again.text.contains("is over: cancelled"))
    }

    @Test func whatIsDoneSlowlyIsToldAtOnceAndEndedByASignal() async throws {
        try write("a", stages: "[run: { command: [sleep, '600'] }]")
        var daemon = try await start()
        for name in ["one", "two", "three"] { try scratch.write("x", to: "pipelines/a-in/\(name)") }
        #expect(try await eventually { try run("jobs").text.split(separator: "\n").count == 4 })
        var client = try DropmillProcess(
            ["cancel", "--pipeline", "a", "--rate", "1/h"], in: scratch.path, log: scratch.path("client"))
        #expect(try await eventually { try client.text().contains(" cancelled") }, "\(client.transcript)")
        try client.send(SIGINT)
        #expect(try client.wait() == 1)
        #expect(client.transcript.contains("error: it was interrupted; 2 jobs are left"), "\(client.transcript)")
        try stop(&daemon)
    }

    @Test func whatAPersonHoldsIsSaidWhereverAJobWaits() async throws {
        try write("a", stages: "[run: { command: [sleep, '600'] }]")
        var daemon = try await start()
        for name in ["one", "two"] { try scratch.write("x", to: "pipelines/a-in/\(name)") }
        #expect(try await eventually { try run("jobs", "--state", "running").status == 0 })
        #expect(try await eventually { try run("jobs", "--state", "queued").status == 0 })
        #expect(try run("pause", "a", "--reason", "RIP is down").status == 0)
        #expect(try run("jobs", "--state", "queued").text.contains("paused by "))
        let doctor = try run("doctor").text
        #expect(doctor.contains("the pipeline 'a' is paused by ") && doctor.contains("'dropmill resume a'"))
        try daemon.send(SIGKILL)
        _ = try daemon.wait()
    }

    @Test func healthIsOneLineAndAStatus() async throws {
        #expect(try run("health").text.contains("not well: no daemon is running"))
        try scratch.write("x", to: "pipelines/a-in/bad")
        try write("a", stages: "[run: { command: ['false'] }]")
        var daemon = try await start()
        #expect(try await eventually { try run("jobs", "--state", "failed").text.contains("bad") })
        let well = try run("health", "--max-age", "1h", "--max-failed", "1")
        #expect(well.status == 0 && well.text.hasPrefix("well: 1 pipeline, 0 unfinished jobs"), "\(well.text)")
        let failed = try run("health", "--max-failed", "0")
        #expect(failed.status == 1 && failed.text.contains("more than 0 jobs failed within the last hour"))
        #expect(try run("pause").status == 0)
        #expect(try run("health").status == 0, "a person's pause is not an illness")
        try scratch.write("inbox: [", to: "pipelines/a.yaml")
        #expect(try run("reload").status == 78)
        let refused = try run("health", "--json")
        #expect(refused.status == 1 && refused.text.contains(#""well":false"#))
        #expect(refused.text.contains("the last reload was refused: "))
        try write("a")
        #expect(try run("reload").status == 0)
        try scratch.write("x", to: "pipelines/a-in/waits")
        let isOld = try await eventually(within: .seconds(10)) {
            try run("health", "--max-age", "1ms").text.contains("is not through after")
        }
        let now = try run("health", "--max-age", "1ms").text + run("status").text + daemon.transcript
        #expect(isOld, "\(now)")
        try stop(&daemon)
    }

    @Test func whatASignalAndForgetChangeIsOnRecord() async throws {
        try write("a", stages: "[run: { command: [sleep, '600'] }]")
        var daemon = try await start()
        try write("b")
        try daemon.send(SIGHUP)
        let isOnRecord = try await eventually {
            let rows = try run("audit", "--json").text
            return rows.contains(#"{\"signal\":\"SIGHUP\"}"#) && rows.contains("b: added")
        }
        #expect(isOnRecord, "\(daemon.transcript)")
        try scratch.write("x", to: "pipelines/a-in/one")
        #expect(try await eventually { try run("jobs", "--state", "running").text.contains("one") })
        try daemon.send(SIGKILL)
        _ = try daemon.wait()
        let forgotten = try run("forget", "one")
        #expect(forgotten.status == 0, "\(forgotten.text)")
        let row = try run("audit", "--limit", "1").text
        #expect(row.contains("forget") && row.contains("given up; its folder is kept in"), "\(row)")
    }
}
