import BuiltinStages
import Glibc
import PipelineKit
import SystemPackage
import TestSupport
import Testing

/// `run` with `confine: true`, as far as one run shows it; EndToEndTests has programs and their attacks.
@Suite struct RunConfinementTests {
    private let fixture: StageFixture

    init() throws { fixture = try StageFixture(drop: "in put.txt", Array("content".utf8)) }

    private func shell(_ script: String, _ more: [(String, Options)] = []) -> Options {
        .map([("command", ["/bin/sh", "-c", .text(script), "sh", "{file}"]), ("confine", "true")] + more)
    }

    @Test(arguments: ["network", "read", "max_memory", "max_processes", "max_file_size"])
    func optionsThatMeanNothing(name: String) throws {
        let values: [String: Options] = ["network": "true", "read": "/opt", "max_processes": "5"]
        let value = values[name] ?? "1GiB"
        _ = try fixture.stage("run", .map([("command", "ls"), ("confine", "true"), (name, value)]))
        for confine in [[], [("confine", Options.text("false"))]] {
            let problem = try #require(throws: OptionProblem.self) {
                try fixture.stage("run", .map([("command", "ls"), (name, value)] + confine))
            }
            #expect(problem.message.hasPrefix("'\(name)' applies only to a confined program"))
        }
    }

    @Test func itsHomeIsItsOwn() throws {
        let notes = StageNotes()
        try fixture.run("run", shell(#"[ "$HOME" = "$TMPDIR" ] && echo x > "$HOME/x" && cat "$1""#), notes: notes)
        #expect(notes.text == "standard output:\ncontent")
    }

    @Test func theFoldersOfOthersAreClosed() throws {
        try fixture.scratch.write("secret", to: "beside")
        let beside = fixture.scratch.path("beside")
        for deed in ["cat", "chmod 600", "rm -f", "touch"] {
            let failure = try fixture.failure("run", shell("\(deed) '\(beside.string)' && exit 0; exit 9"))
            #expect(failure.summary.contains("exited with status 9"), "\(deed)")
        }
        let notes = StageNotes()
        let read: [(String, Options)] = [("read", .text(beside.string))]
        try fixture.run("run", shell("cat '\(beside.string)'", read), notes: notes)
        #expect(notes.text == "standard output:\nsecret")
        #expect(try fixture.scratch.text("beside") == "secret")
    }

    /// It changes modes and times of what it makes, by path, by descriptor and by folder, and of nothing else.
    @Test func whatItMakesIsItsOwn() throws {
        let script = """
            mkdir d; echo x > d/x; chmod 640 d/x; touch -d @1000000000 d/x; cp -p d/x d/y; chmod -R u=rwX,go= d
            [ "$(stat -c '%a %Y' d/x d/y | sort -u)" = "600 1000000000" ] && chmod 4755 d/y && stat -c %a d/y
            """
        let notes = StageNotes()
        try fixture.run("run", shell(script), notes: notes)
        #expect(notes.text == "standard output:\n755", "nothing runs with our rights")
    }

    @Test func whatReadNamesHasToBeThere() throws {
        let failure = try fixture.failure("run", shell("true", [("read", "/no/such/folder")]))
        #expect(failure.class == .environment)
        #expect(failure.code == "run.read")
        #expect(failure.summary.contains("/no/such/folder"))
    }

    @Test func aFileThatGrowsTooLarge() throws {
        let failure = try fixture.failure(
            "run", shell("exec head -c 2000000 /dev/zero > big", [("max_file_size", "1MiB")]))
        #expect(failure.class == .file)
        #expect(failure.remedy.contains("'max_file_size'"))
    }

    @Test(.enabled(if: geteuid() == 0, "needs root to give files away"))
    func whatBelongsToOthersIsRead() throws {
        #expect(fixture.job.original.withPlatformString { chown($0, 4242, 4242) } == 0)
        #expect(fixture.job.original.withPlatformString { chmod($0, 0o600) } == 0)
        let notes = StageNotes()
        try fixture.run("run", shell(#"cat "$1""#), notes: notes)
        #expect(notes.text == "standard output:\ncontent")
    }

    @Test func aProgramThatIsNotThere() throws {
        let failure = try fixture.failure("run", .map([("command", "/no/such/program"), ("confine", "true")]))
        #expect(failure.code == "run.missing")
    }

    /// Wherever the program is, it is the one that was named.
    @Test func aProgramOfOnesOwn() throws {
        let tool = try fixture.scratch.write("#!/bin/sh\necho mine\n", to: "bin/tool")
        chmod(tool.string, 0o755)
        let notes = StageNotes()
        try fixture.run("run", .map([("command", .text(tool.string)), ("confine", "true")]), notes: notes)
        #expect(notes.text == "standard output:\nmine")
    }
}
