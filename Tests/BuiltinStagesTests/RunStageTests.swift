import BuiltinStages
import Dispatch
import Files
import Glibc
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@Suite struct RunStageTests {
    private let fixture: StageFixture

    init() throws { fixture = try StageFixture(drop: "in put.txt", Array("content".utf8)) }

    private func shell(_ script: String, _ more: [(String, Options)] = []) -> Options {
        .map([("command", ["sh", "-c", .text(script), "sh", "{file}", "{dir}", "{name}", "{job}"])] + more)
    }

    @Test func thePayloadStaysAndTheOutputIsTold() throws {
        let notes = StageNotes()
        let script = #"cat "$1"; echo " $3 $4" >&2; [ "$2" = "$PWD" ]"#
        let payload = try fixture.run("run", shell(script), notes: notes)
        #expect(payload == fixture.payload)
        #expect(
            notes.text == "standard error:\n in put.txt \(fixture.job.id)\nstandard output:\ncontent")
    }

    @Test func standardInput() throws {
        let notes = StageNotes()
        try fixture.run("run", ["command": "cat", "stdin": "payload"], notes: notes)
        #expect(notes.text == "standard output:\ncontent")
        let empty = StageNotes()
        try fixture.run("run", ["command": "cat"], notes: empty)
        #expect(empty.text == nil)
        let report = StageNotes()
        let failure = JobFailure(.file("archive.damaged", "It is damaged."), stage: "unpack", attempts: 1)
        try fixture.run("run", ["command": "cat", "stdin": "report"], notes: report, failed: failure)
        #expect(report.text?.contains(#""name":"in put.txt""#) == true)
        #expect(report.text?.contains(#""code":"archive.damaged""#) == true)
        let folder = try fixture.folderPayload([(Array("a".utf8), "x")])
        #expect(try fixture.failure("run", ["command": "cat", "stdin": "payload"], on: folder).code == "run.folder")
    }

    /// Whatever it does to what it is given, nothing is lost, and a second run finds the same.
    @Test(arguments: ["rm", "gzip", "mv -t . --", "truncate -s 0", "chmod 000"])
    func thePayloadIsNotThePrograms(command: String) throws {
        for _ in 0..<2 {
            let script = #"[ "$(cat "$1")" = content ] && [ "$DROPMILL_FILE" = "$1" ] && \#(command) "$1""#
            #expect(try fixture.run("run", shell(script)) == fixture.payload)
            #expect(try ScratchFolder.read(fixture.job.original) == Array("content".utf8))
        }
        let folder = try fixture.folderPayload([(Array("a".utf8), "x")])
        try fixture.run("run", shell(#"echo more >> "$1/a""#), on: folder)
        #expect(try fixture.scratch.text("job/.payload/a") == "x")
    }

    /// Whatever a program inherits it could keep, or tell.
    @Test func nothingElseIsOpen() throws {
        let stray = dup(1)
        defer { close(stray) }
        let notes = StageNotes()
        try fixture.run("run", ["command": ["sh", "-c", "ls /proc/self/fd | wc -l"]], notes: notes)
        // The three, and the folder that ls reads.
        #expect(notes.text == "standard output:\n4")
    }

    @Test func noShellReadsTheArguments() throws {
        let notes = StageNotes()
        let options: Options = [
            "command": ["printf", "[%s]", "$HOME; rm -rf *", "{print $1}", "{stem}.{ext}", "{sha256}x", "*"]
        ]
        var payload = fixture.payload
        payload.digests["sha256"] = "abcd"
        try fixture.run("run", options, on: payload, notes: notes)
        #expect(notes.text == "standard output:\n[$HOME; rm -rf *][{print $1}][in put.txt][abcdx][*]")
    }

    /// What looks like a placeholder and is none is a mistake.
    @Test(arguments: [
        ("{output}", "unknown placeholder '{output}'; known are {file} {dir} {name}"),
        ("-o{fil}", "unknown placeholder '{fil}'; did you mean '{file}'?"), ("{Name}", "did you mean '{name}'?"),
        ("{sha512}", "unknown placeholder '{sha512}'"), ("{dates}", "unknown placeholder '{dates}'"),
        ("{print}", "to pass it to the program as is, write '{{print}}'"),
        ("{dateformat}", "to pass it to the program as is, write '{{dateformat}}'"),
    ])
    func unknownPlaceholders(argument: String, message: String) {
        let problem = #expect(throws: OptionProblem.self) {
            try fixture.stage("run", ["command": ["ls", .text(argument)]])
        }
        #expect(problem?.message.contains(message) == true, "\(problem?.message ?? "")")
    }

    /// What is a program's own by its looks stays.
    @Test func otherBraces() throws {
        let notes = StageNotes()
        let arguments = [
            "{{print}}", "%{http_code}", "a{2,3}", "{}", "{ print }", "@{upstream}", "{{ name }}", "{", "{{}}",
            "{{dateformat}}",
        ]
        try fixture.run("run", ["command": .list((["printf", "%s;"] + arguments).map { .text($0) })], notes: notes)
        #expect(
            notes.text
                == "standard output:\n{print};%{http_code};a{2,3};{};{ print };@{upstream};{{ name }};{;{{}};"
                + "{dateformat};"
        )
    }

    @Test func namesThatAreNoUTF8() throws {
        let name = try #require(FileName(Array("V".utf8) + [0xED]))
        let fixture = try StageFixture(drop: name, Array("x".utf8))
        let payload = try fixture.run("run", ["command": ["cp", "{file}", "{name}.2"], "output": "replace"])
        #expect(payload.shape == .file(try #require(FileName(name.bytes + Array(".2".utf8)))))
    }

    @Test func theEnvironmentIsClosed() throws {
        setenv("DROPMILL_TEST_SECRET", "must not be seen", 1)
        let notes = StageNotes()
        try fixture.run(
            "run", ["command": "env", "env": ["LANG": "C", "EXTRA": "a=b"]], notes: notes)
        let lines = notes.text?.split(separator: "\n").dropFirst().map { $0.split(separator: "=")[0] }.sorted() ?? []
        #expect(
            lines == [
                "DROPMILL_DIR", "DROPMILL_JOB", "DROPMILL_NAME", "DROPMILL_PIPELINE", "EXTRA", "HOME",
                "LANG", "PATH", "TMPDIR",
            ])
        #expect(notes.text?.contains("\nLANG=C") == true)
        #expect(notes.text?.contains("\nEXTRA=a=b") == true)
    }

    @Test func whatItMakesReplacesThePayload() throws {
        let one = try fixture.run("run", shell(#"tr a-z A-Z < "$1" > result"#, [("output", "replace")]))
        #expect(one.shape == .file(try #require(FileName("result"))))
        #expect(try ScratchFolder.read(one.path) == Array("CONTENT".utf8))
        #expect(!one.isDrop)
        let many = try fixture.run("run", shell("mkdir d; echo > d/a; echo > b", [("output", "replace")]))
        #expect(many.shape == .folder)
        #expect(try many.files().map(\.relative) == ["b", "d/a"])
        for script in ["true", "rmdir \"$PWD\"", "rmdir \"$PWD\"; ln -s / \"$PWD\""] {
            #expect(try fixture.failure("run", shell(script, [("output", "replace")])).code == "run.nothing")
        }
    }

    @Test func whatItMakesIsAdded() throws {
        let first = try fixture.run("run", shell("echo x > more", [("output", "add")]))
        #expect(try first.files().map(\.relative) == ["in put.txt", "more"])
        #expect(Folder.kind(of: fixture.job.original) == .regular)
        let failure = try fixture.failure("run", shell("echo x > 'in put.txt'", [("output", "add")]))
        #expect(failure.code == "run.taken")
    }

    /// What is added keeps what only its owner may see.
    @Test func foldersThatAreAddedKeepTheirRights() throws {
        let payload = try fixture.folderPayload([(Array("d/file".utf8), "x")])
        let rights = FolderRights(mode: 0o700, modified: 1_000_000_000)
        try rights.set(payload.root.appending("d"))
        try rights.set(payload.root)
        let added = try fixture.run("run", shell("mkdir d; echo > made", [("output", "add")]), on: payload)
        #expect(try FolderRights.of(added.root) == rights)
        #expect(try FolderRights.of(added.root.appending("d")) == rights)
    }

    @Test(arguments: [
        ("exit 3", Failure.Class.file, "exited with status 3"), ("exit 75", .transient, "exited with status 75"),
        ("kill -9 $$", .file, "was killed by signal 9"),
    ])
    func failures(script: String, class: Failure.Class, fact: String) throws {
        let failure = try fixture.failure("run", shell("echo reason >&2; \(script)"))
        #expect(failure.class == `class`)
        #expect(failure.summary == "The program 'sh' \(fact) for 'in put.txt'.")
        #expect(failure.detail == "standard error:\nreason")
        let own = try fixture.failure("run", shell("exit 3", [("transient", ["3", "4"])]))
        #expect(own.class == .transient)
    }

    @Test(arguments: ["no-such-program-at-all", "/no/such/program", "./none"])
    func aMissingProgramIsNoFaultOfTheFile(program: String) throws {
        let failure = try fixture.failure("run", ["command": .list([.text(program), "x"])])
        #expect(failure.class == .environment)
        #expect(failure.summary.contains("'\(program)'"))
    }

    /// The sender names the file, and options are not the sender's to give.
    @Test func aNameIsNoOption() throws {
        let fixture = try StageFixture(drop: "-rf", Array("x".utf8))
        let failure = try fixture.failure("run", ["command": ["echo", "{name}"]])
        #expect(failure.class == .file)
        #expect(failure.code == "run.dash")
        for command: Options in [["echo", "--", "{name}"], ["echo", "./{name}"], ["echo", "{file}"]] {
            try fixture.run("run", ["command": command])
        }
    }

    @Test func anOwnPath() throws {
        try fixture.scratch.write("#!/bin/sh\necho mine\n", to: "bin/tool")
        chmod(fixture.scratch.path("bin/tool").string, 0o755)
        let notes = StageNotes()
        let path: Options = .text("\(fixture.scratch.path("bin").string):/usr/bin:/bin")
        try fixture.run("run", ["command": "tool", "env": ["PATH": path]], notes: notes)
        #expect(notes.text == "standard output:\nmine")
    }

    @Test func aScriptWithoutAnInterpreterIsNoFaultOfTheFile() throws {
        let script = try fixture.scratch.write("echo x\n", to: "script")
        chmod(script.string, 0o755)
        #expect(try fixture.failure("run", ["command": "./script"]).class == .environment)
    }

    /// A link that it makes is not the way for files of the payload, and what is no file is not handed on.
    @Test func whatItMakesStaysInItsFolder() throws {
        let outside = try fixture.scratch.makeFolder("outside")
        let payload = try fixture.folderPayload([(Array("d/evil".utf8), "x")])
        let link = "ln -s '\(outside.string)'"
        for script in ["\(link) d; echo > f", "mkdir d; \(link) d/evil; echo > f", "echo > d", "mkdir -p d/evil"] {
            let failure = try fixture.failure("run", shell(script, [("output", "add")]), on: payload)
            #expect(failure.class == .file)
            #expect(failure.code == "run.taken")
        }
        #expect(try Folder.names(in: outside).isEmpty)
        let failure = try fixture.failure("run", shell("mkfifo pipe; echo > f", [("output", "replace")]))
        #expect(failure.code == "run.special")
    }

    @Test func streamsAreKeptInCappedFiles() throws {
        try fixture.run("run", shell("yes | head -c 10000000; echo end; echo note >&2"))
        let scratch = fixture.job.scratch(stage: 0, kind: "run")
        let output = try ScratchFolder.read(scratch.appending("stdout"))
        #expect((512 << 10...1 << 20).contains(output.count))
        #expect(output.suffix(6).elementsEqual("y\nend\n".utf8))
        #expect(try ScratchFolder.read(scratch.appending("stderr")) == Array("note\n".utf8))
    }

    @Test func muchOutputIsCut() throws {
        let failure = try fixture.failure("run", shell("yes | head -c 10000000; echo end; exit 1"))
        #expect(failure.detail.utf8.count < 20_000)
        #expect(failure.detail.hasPrefix("standard output, the last 16384 of 10000004 bytes:"))
        #expect(failure.detail.hasSuffix("end"))
    }

    /// A program that ignores SIGTERM, and one in the background that holds the pipes.
    @Test(arguments: ["trap '' TERM; touch $UP; while :; do :; done", "touch $UP; sleep 1000"])
    func aProgramIsStopped(script: String) throws {
        let cancellation = Cancellation()
        let began = ContinuousClock.now
        let up = fixture.scratch.path("up")
        let options: [(String, Options)] = [("grace", "100ms"), ("env", ["UP": .text(up.string)])]
        DispatchQueue(label: "watcher").async { @Sendable in
            while Folder.kind(of: up) == nil, ContinuousClock.now - began < .seconds(30) { sched_yield() }
            cancellation.cancel(.timeout)
        }
        let notes = StageNotes()
        #expect(throws: Failure.cancelled) {
            try fixture.run(
                "run", shell("echo about to hang >&2; \(script)", options), cancellation: cancellation, notes: notes)
        }
        #expect(notes.text == "standard error:\nabout to hang")
        #expect(ContinuousClock.now - began < .seconds(30))
    }

    @Test func eachRunHasFoldersOfItsOwn() throws {
        var places: Set<String> = []
        for _ in 1...2 {
            let notes = StageNotes()
            try fixture.run("run", shell("echo $PWD; echo $TMPDIR"), notes: notes)
            places.formUnion(notes.text?.split(separator: "\n").dropFirst().map(String.init) ?? [])
        }
        #expect(places.count == 4)
    }

    /// Nobody is left who knows how the program ended, which is no fault of the file.
    @Test func aKeeperThatIsKilledTakesTheProgramAlong() async throws {
        let failure = try fixture.failure("run", shell("sleep 1000 & echo $! $$; kill -9 $PPID; exec sleep 1000"))
        #expect(failure.class == .transient)
        #expect(failure.code == "run.lost")
        let pids = failure.detail.split { $0.isWhitespace }.compactMap { pid_t($0) }
        try #require(pids.count == 2, "\(failure.detail)")
        let areGone = await eventually { pids.allSatisfy(Self.isDead) }
        #expect(areGone)
    }

    /// Gone, or over and not yet reaped by whoever inherited it.
    private static func isDead(_ process: pid_t) -> Bool {
        do throws(IOError) {
            let status = try ScratchFolder.read(FilePath("/proc/\(process)/stat"))
            return String(decoding: status, as: UTF8.self).contains(") Z ")
        } catch {
            return true
        }
    }

    /// In its group, or out of it, or a daemon by the book: forked twice, in a session of its own.
    @Test(arguments: [
        "(trap '' HUP TERM; exec sleep 1000) & echo $!", "setsid sh -c 'echo $$; exec sleep 1000' &",
        #"setsid sh -c 'sh -c "echo \$\$; exec sleep 1000" & exit' &"#,
    ])
    func whatItLeavesRunningIsKilled(script: String) throws {
        let notes = StageNotes()
        let began = ContinuousClock.now
        let wait = "while [ ! -s child ]; do sleep 0.01; done; cat child"
        try fixture.run("run", shell("{ \(script)\n} > child; \(wait)"), notes: notes)
        #expect(ContinuousClock.now - began < .seconds(30))
        let pid = try #require(notes.text?.split(separator: "\n").last.flatMap { pid_t($0) })
        #expect(kill(pid, 0) == -1, "it is gone by the time that the stage is over")
    }

    /// Where memory is short the kernel ends it rather than the daemon.
    @Test func itIsTheFirstToBeKilled() throws {
        let script = "until [ \"$score\" = 1000 ]; do read score < /proc/self/oom_score_adj; done"
        try fixture.run("run", shell(script))
        try fixture.run("run", shell(script, [("confine", "true")]))
    }

    @Test func wrongOptions() throws {
        for command: Options in ["ls -l", [], ["{file}"], ["ls", "{fiel}"]] {
            #expect(throws: OptionProblem.self) { try fixture.stage("run", ["command": command]) }
        }
        #expect(throws: OptionProblem.self) { try fixture.stage("run", ["command": "ls", "env": ["A=B": "x"]]) }
        #expect(throws: OptionProblem.self) { try fixture.stage("run", ["command": "ls", "transient": "0"]) }
    }
}

extension RunStage: ContractSubject {
    static var contract: StageContract {
        StageContract(
            options: ["command": ["cp", "-R", "{file}", "{name}"], "output": "replace"], work: .plainFile,
            lasting: ["command": ["sleep", "1000"]],
            sign: StageContract.Sign(path: "job/.1-run/stdout", isEmptyEnough: true))
    }
}
