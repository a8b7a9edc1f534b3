import Glibc
import SystemPackage
import TestSupport
import Testing

/// What ends nowhere, and what nobody can finish.
@Suite(.timeLimit(.minutes(5))) struct ForgetTests {
    private func dropmill(_ arguments: [String], in folder: FilePath) throws -> Tool.Output {
        try Tool(DropmillProcess.binary).run(arguments, in: folder)
    }

    /// An inbox, and a pipeline with that stage.
    private func writePipeline(_ stage: String, in scratch: ScratchFolder) throws {
        try scratch.write(
            """
            inbox: inbox
            processed: processed
            failed: failed
            ready: { quiet: 20ms }
            stages:
              - \(stage)

            """, to: "main.yaml")
        try scratch.makeFolder("inbox")
    }

    @Test func noNameOfADropLeadsIntoAFolderOfTheEngine() async throws {
        let scratch = try ScratchFolder()
        try writePipeline(#"move: { to: "{stem}" }"#, in: scratch)
        let names = ["inbox.txt", "failed.txt", "processed.txt", "state.txt", "fine.txt"]
        for name in names { try scratch.write("x", to: "inbox/\(name)") }
        let run = try dropmill(["run", "main.yaml", "--once", "--state", "state"], in: scratch.path)
        #expect(run.status == 1, "\(run.text)")
        let failed = try scratch.tree("failed").filter { !$0.hasSuffix(".error.json") }
        #expect(failed == ["failed.txt", "inbox.txt", "processed.txt", "state.txt"], "\(run.text)")
        #expect(try scratch.tree("fine") == ["fine.txt"])
        let report = String(
            decoding: try ScratchFolder.read(scratch.path("failed/inbox.txt.error.json")), as: UTF8.self)
        #expect(report.contains("publish.reserved") && report.contains("the inbox of 'main'"))
    }

    @Test func noNameOfADropLeadsToThePipelines() async throws {
        let scratch = try ScratchFolder()
        try scratch.makeFolder("pipelines")
        try scratch.write(
            """
            inbox: ../inbox
            processed: ../processed
            failed: ../failed
            ready: { quiet: 20ms }
            stages:
              - move: { to: "../{stem}" }

            """, to: "pipelines/main.yaml")
        try scratch.write("stages: []", to: "inbox/pipelines.yaml")
        let run = try dropmill(["run", "pipelines", "--once", "--state-dir", "state"], in: scratch.path)
        #expect(run.status == 1, "\(run.text)")
        #expect(try scratch.tree("pipelines") == ["main.yaml"])
        #expect(try scratch.text("failed/pipelines.yaml") == "stages: []")
    }

    @Test func aJobThatNobodyCanFinishIsGivenUp() async throws {
        let scratch = try ScratchFolder()
        try writePipeline(
            #"run: { command: [sh, -c, "until test -e '\#(scratch.path("go").string)'; do read -t 1 x; done"] }"#,
            in: scratch)
        try scratch.write("x", to: "inbox/a.txt")
        var daemon = try DropmillProcess(
            ["run", "main.yaml", "--state", "state", "--log-format", "json", "--log-level", "debug"], in: scratch.path,
            log: scratch.path("log"))
        // The journal knows of a claim a little later than the log.
        #expect(
            try await eventually { try dropmill(["show", "a.txt", "--state", "state"], in: scratch.path).status == 0 })
        let running = try dropmill(["forget", "a.txt", "--state", "state"], in: scratch.path)
        #expect(running.status == 1 && running.text.contains("the daemon will finish it"), "\(running.text)")
        try daemon.end()
        // As after its file system went, with another inbox in the place of the first.
        for name in [".dropmill", "inbox"] {
            let path = scratch.path(name)
            #expect(rename(path.string, path.string + "-away") == 0)
        }
        try scratch.makeFolder("inbox")
        let start = try dropmill(["run", "main.yaml", "--once", "--state", "state"], in: scratch.path)
        #expect(start.text.contains("1 job stays as it is"), "\(start.text)")
        let forgotten = try dropmill(["forget", "a.txt", "--state", "state"], in: scratch.path)
        #expect(forgotten.status == 0 && forgotten.text.contains("given up"), "\(forgotten.text)")
        let again = try dropmill(["forget", "a.txt", "--state", "state"], in: scratch.path)
        #expect(again.status == 1 && again.text.contains("is finished"), "\(again.text)")
        let after = try dropmill(["run", "main.yaml", "--once", "--state", "state"], in: scratch.path)
        #expect(after.status == 0 && !after.text.contains("is left"), "\(after.text)")
    }

    /// With the second number there are some for each, but they take them from each other.
    @Test(arguments: [64, 300]) func tooFewDescriptorsAreNoFaultOfAFolder(most: Int) throws {
        let scratch = try ScratchFolder()
        for number in 1...40 {
            try scratch.write(
                "inbox: in-\(number)\nprocessed: done-\(number)\nfailed: bad-\(number)\nstages: [checksum]\n",
                to: "pipelines/p\(number).yaml")
        }
        let run = try Tool("/usr/bin/prlimit").run(
            ["--nofile=\(most):\(most)", "--", DropmillProcess.binary.string, "run", "--once", "--state", "state"],
            in: scratch.path)
        #expect(run.status == 75, "\(run.text)")
        #expect(run.text.contains("LimitNOFILE="), "\(run.text)")
    }
}
