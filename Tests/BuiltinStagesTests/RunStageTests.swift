import BuiltinStages
import Dispatch
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
                "DROPMILL_DIR", "DROPMILL_FILE", "DROPMILL_JOB", "DROPMILL_NAME", "DROPMILL_PIPELINE", "EXTRA", "HOME",
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
        #expect(try fixture.failure("run", shell("true", [("output", "replace")])).code == "run.nothing")
    }

    @Test func whatItMakesIsAdded() throws {
        let first = try fixture.run("run", shell("echo x > more", [("output", "add")]))
        #expect(try first.files().map(\.relative) == ["in put.txt", "more"])
        #expect(Folder.kind(of: fixture.job.original) == .regular)
        let failure = try fixture.failure("run", shell("echo x > 'in put.txt'", [("output", "add")]))
        #expect(failure.code == "run.taken")
    }

    /// What is in the way of the payload's `d/e/file`, and where it would end: a link would lead out of the job.
    @Test(arguments: ["ln -s \"$OUT\" d", "mkdir d; ln -s \"$OUT\" d/e", "echo x > d", "mkdir -p d/e/file"])
    func nothingIsWrittenThroughWhatItMade(script: String) throws {
        let outside = try fixture.scratch.makeFolder("outside/e")
        let payload = try fixture.folderPayload([(Array("d/e/file".utf8), "x"), (Array("z".utf8), "")])
        let options: [(String, Options)] = [("output", "add"), ("env", ["OUT": .text(outside.string)])]
        let failure = try fixture.failure("run", shell("echo > made; \(script)", options), on: payload)
        #expect(failure.code == "run.taken")
        #expect(failure.class == .file)
        #expect(try fixture.scratch.tree("outside") == ["e/"])
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
        ("exit 3", StageFailure.Class.file, "ended with status 3"), ("exit 75", .transient, "ended with status 75"),
        ("kill -9 $$", .file, "was ended by signal 9"),
    ])
    func failures(script: String, class: StageFailure.Class, fact: String) throws {
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
        let notes = StageNotes()
        let began = ContinuousClock.now
        let up = fixture.scratch.path("up")
        let options: [(String, Options)] = [("grace", "100ms"), ("env", ["UP": .text(up.string)])]
        DispatchQueue(label: "watcher").async { @Sendable in
            while Folder.kind(of: up) == nil, ContinuousClock.now - began < .seconds(30) { sched_yield() }
            cancellation.cancel(.timeout)
        }
        #expect(throws: StageFailure.cancelled) {
            try fixture.run(
                "run", shell("echo about to hang >&2; \(script)", options), cancellation: cancellation, notes: notes)
        }
        #expect(ContinuousClock.now - began < .seconds(30))
        #expect(notes.text == "standard error:\nabout to hang")
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

    @Test func noDescriptorsAreInherited() throws {
        // Left open for programs, by whoever started the daemon.
        let stray = dup(2)
        defer { close(stray) }
        let notes = StageNotes()
        try fixture.run("run", shell("for file in /proc/$$/fd/*; do echo ${file##*/}; done"), notes: notes)
        let open = Set(notes.text?.split(separator: "\n").dropFirst().compactMap { Int32($0) } ?? [])
        #expect(open.isSuperset(of: [0, 1, 2]))
        #expect(!open.contains(stray))
    }

    /// In its group, or out of it.
    @Test(arguments: ["(trap '' HUP TERM; exec sleep 1000) & echo $!", "setsid sh -c 'echo $$; exec sleep 1000' &"])
    func whatItLeavesRunningIsKilled(script: String) throws {
        let notes = StageNotes()
        let began = ContinuousClock.now
        let wait = "while [ ! -s child ]; do sleep 0.01; done; cat child"
        try fixture.run("run", shell("{ \(script)\n} > child; \(wait)"), notes: notes)
        #expect(ContinuousClock.now - began < .seconds(30))
        let pid = try #require(notes.text?.split(separator: "\n").last.flatMap { pid_t($0) })
        #expect(kill(pid, 0) == -1, "it is gone by the time that the stage is over")
    }

    @Test func wrongOptions() throws {
        for command: Options in ["ls -l", [], ["{file}"], ["ls", "{fiel}"]] {
            #expect(throws: OptionProblem.self) { try fixture.stage("run", ["command": command]) }
        }
        #expect(throws: OptionProblem.self) { try fixture.stage("run", ["command": "ls", "env": ["A=B": "x"]]) }
        #expect(throws: OptionProblem.self) { try fixture.stage("run", ["command": "ls", "transient": "0"]) }
    }
}
