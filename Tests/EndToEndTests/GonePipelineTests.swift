import Files
import Glibc
import SystemPackage
import TestSupport
import Testing

/// A pipeline that is moved, removed or renamed while the daemon runs, and what is unfinished then.
@Suite(.timeLimit(.minutes(5))) struct GonePipelineTests: DaemonTests {
    let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    @Test func whatIsLeftOfARemovedOneStaysInSightUntilAnotherTakesItOver() async throws {
        let go = scratch.path("go")
        try write("a", stages: "[run: { command: [sh, -c, 'while [ ! -e \(go) ]; do sleep 0.1; done'] }]")
        try write("b")
        var daemon = try await start()
        try scratch.write("x", to: "pipelines/a-in/one")
        #expect(try await eventually { try run("jobs", "--state", "running").text.contains("one") })
        try Folder.remove(scratch.path("pipelines/a.yaml"))
        #expect(try run("reload").text.contains("a: removed (1 unfinished)"))
        #expect(try run("status").text.contains("1 unfinished job stays"))
        try scratch.write("", to: "go")
        #expect(
            try await eventually { try daemon.hasLogged("warning", "1 unfinished job belongs to the pipeline 'a'") })
        for isRestarted in [false, true] {
            if isRestarted {
                try stop(&daemon)
                daemon = try await start()
                #expect(try daemon.hasLogged("warning", "1 unfinished job belongs to the pipeline 'a'"))
            }
            let status = try run("status").text
            #expect(
                status.contains("1 unfinished job stays as it is: run it again, "), "\(status)")
            let story = try run("show", "one").text
            #expect(story.contains("the daemon does not run its pipeline 'a'"), "\(story)")
            #expect(story.contains("formerly: a") && story.contains("dropmill release"), "\(story)")
            #expect(story.contains("dropmill forget"), "\(story)")
            #expect(try run("doctor").text.contains("1 stranded job of the pipeline 'a'"))
        }
        try write("c", inbox: "a-in")
        let warned = try run("check")
        #expect(warned.status == 0 && warned.text.contains("warning: 1 unfinished job belongs to the pipeline 'a'"))
        #expect(warned.text.contains("or say 'formerly: a' in pipelines/c.yaml"), "\(warned.text)")
        try write("c", inbox: "a-in", "formerly: a\n")
        #expect(try !run("check").text.contains("warning"))
        #expect(try run("reload").text.contains("c: added"))
        #expect(await eventually { scratch.exists("pipelines/c-done/one") })
        #expect(
            try await eventually {
                let story = try run("show", "one").text
                return story.contains("taken over: from the pipeline 'a'")
                    && story.contains("begun again: the pipeline was changed") && story.contains("processed")
            })
        #expect(try !run("doctor").text.contains("stranded"))
        try stop(&daemon)
    }

    @Test func whatIsLeftOfARemovedOneCanBeGivenUpWhileTheDaemonRuns() async throws {
        try write("a", stages: "[run: { command: [sleep, '600'] }]")
        try write("b")
        var daemon = try await start()
        try scratch.write("x", to: "pipelines/a-in/one")
        #expect(try await eventually { try run("jobs", "--state", "running").text.contains("one") })
        #expect(try run("forget", "one").text.contains("the daemon will finish it"))
        try daemon.end()
        try Folder.remove(scratch.path("pipelines/a.yaml"))
        daemon = try await start()
        let forgotten = try run("forget", "one")
        #expect(forgotten.status == 0 && forgotten.text.contains("given up"), "\(forgotten.text)")
        #expect(try !run("status").text.contains("unfinished"))
        try stop(&daemon)
    }

    @Test func whatIsBeingTakenOverIsNotGivenUp() async throws {
        let wait = "[run: { command: [sh, -c, 'until [ -e \(scratch.path.string)/go ]; do sleep 0.05; done'] }]"
        try write("a", stages: wait)
        var daemon = try await start()
        for name in ["one", "two"] {
            try scratch.write("x", to: "pipelines/a-in/\(name)")
            try #require(try await eventually { try run("jobs").text.contains(name) })
        }
        try #require(try await eventually { try run("jobs", "--state", "running").text.contains("one") })
        try write("b", inbox: "a-in", stages: wait, "formerly: a\n")
        try Folder.remove(scratch.path("pipelines/a.yaml"))
        #expect(try run("reload").text.contains("a: taken over by 'b'"))
        let refused = try run("forget", "one")
        #expect(refused.status == 1 && refused.text.contains("the daemon will finish it"), "\(refused.text)")
        let status = try run("status").text
        #expect(status.contains("another pipeline takes its jobs over, as what is under way ends"), "\(status)")
        #expect(!status.contains("stays as it is") && !status.contains("forget"), "\(status)")
        #expect(try !run("show", "one").text.contains("does not run its pipeline"))
        try scratch.write("", to: "go")
        #expect(await eventually { scratch.exists("pipelines/b-done/one") && scratch.exists("pipelines/b-done/two") })
        #expect(try await eventually { try run("status").text.contains("with nothing unfinished: a") })
        try stop(&daemon)
    }

    @Test func anHeirThatComesLaterIsWarnedOf() async throws {
        try write("a", stages: "[run: { command: [sleep, '600'] }]")
        try write("c")
        var daemon = try await start()
        try scratch.write("x", to: "pipelines/a-in/one")
        #expect(try await eventually { try run("jobs", "--state", "running").text.contains("one") })
        #expect(try run("pause", "a").status == 0)
        try daemon.end()
        try Folder.remove(scratch.path("pipelines/a.yaml"))
        daemon = try await start()
        try write("b", inbox: "a-in")
        let reloaded = try run("reload").text
        #expect(reloaded.contains("b: added") && reloaded.contains("warning: 1 unfinished job belongs"), "\(reloaded)")
        #expect(try daemon.hasLogged("warning", "or say 'formerly: a' in pipelines/b.yaml"))
        try write("b", inbox: "a-in", stages: "[checksum: { algorithm: md5 }]")
        let explained = try run("explain", "pipelines/a-in/two").text
        #expect(explained.contains("it goes the same way, with what is new in the pipeline: b changed (stage 1)"))
        try stop(&daemon)
    }

    @Test func whatWaitsOfARenamedOneIsBumped() async throws {
        try write("a")
        var daemon = try await start()
        #expect(try run("pause", "a").status == 0)
        for name in ["one", "two"] { try scratch.write("x", to: "pipelines/a-in/\(name)") }
        try Folder.remove(scratch.path("pipelines/a.yaml"))
        try write("c", inbox: "a-in", "formerly: a\n")
        #expect(try run("reload").text.contains("c: added"))
        for drop in ["two", scratch.path("pipelines/a-in/two").string] {
            #expect(try await eventually { try run("bump", drop).status == 0 }, "\(drop)")
        }
        try stop(&daemon)
    }

    @Test func anInboxCanBeMoved() async throws {
        try write("a")
        var daemon = try await start()
        try write("a", inbox: "elsewhere/in")
        #expect(try run("reload").text.contains("a: changed (inbox)"))
        try scratch.write("x", to: "pipelines/elsewhere/in/one")
        #expect(await eventually { scratch.exists("pipelines/a-done/one") })
        try stop(&daemon)
    }
}
