import Files
import Glibc
import SystemPackage
import TestSupport
import Testing

/// Originals that are to be kept no longer: what a person is told of them, and what the daemon removes by itself, 15 s
/// after its start.
@Suite(.timeLimit(.minutes(5))) struct PruneTests: DaemonTests {
    let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    /// Has files processed, one after the other.
    private func process(_ names: [String], by pipeline: String = "a") throws {
        for name in names {
            try scratch.write("content of \(name)", to: "pipelines/\(pipeline)-in/\(name)")
            let once = try run("run", "--once")
            try #require(once.status == 0 && scratch.exists(done(name, of: pipeline)), "\(once.text)")
        }
    }

    private func keep(_ keep: String, of pipeline: String = "a", _ more: String = "") throws {
        try write(pipeline, "\(more)\nkeep: \(keep)\n")
    }

    private func done(_ name: String, of pipeline: String = "a") -> String { "pipelines/\(pipeline)-done/\(name)" }

    private func starts(wrapper: [String] = []) async throws -> DropmillProcess {
        let daemon = try DropmillProcess(
            ["run", "--log-format", "json"], in: scratch.path, log: scratch.path("log"), wrapper: wrapper)
        try #require(await eventually { try run("status").text.hasPrefix("running since") }, "\(daemon.transcript)")
        return daemon
    }

    private func names(of pipeline: String = "a") throws -> [String] {
        try Folder.names(in: scratch.path("pipelines/\(pipeline)-done")).map(\.text)
            .filter { !$0.hasPrefix(".") && !$0.hasSuffix(".sha256") }.sorted()
    }

    private static let atOnce = "{ processed: { age: 1ms } }"

    // MARK: What is printed

    @Test func tellsWhatGoesAndWhatItComesTo() async throws {
        for name in ["a", "b"] { try write(name) }
        try process(["1", "2", "3"])
        try process(["4", "5"], by: "b")
        try keep("{ processed: { files: 1 } }")
        try keep(Self.atOnce, of: "b")
        var daemon = try await starts()
        let dry = try run("prune", "--dry-run")
        #expect(dry.status == 0)
        let lines = dry.text.split(separator: "\n").map(String.init)
        try #require(lines.count == 5, "\(dry.text)")
        let first = scratch.path(done("1")).string
        #expect(lines[0].hasPrefix("\(first)  ") && lines[0].hasSuffix("  12 B  a processed: files 1"), "\(lines[0])")
        #expect(lines[1].contains("/a-done/2  "))
        #expect(lines[3].contains("/b-done/5  ") && lines[3].hasSuffix("b processed: age 1 ms"), "\(lines[3])")
        #expect(lines[4] == "4 originals would be removed, 48 B")
        #expect(try names() == ["1", "2", "3"] && names(of: "b") == ["4", "5"])

        let one = try run("prune", "--pipeline", "a")
        #expect(one.status == 0 && one.text.hasSuffix("\n2 originals removed, 24 B\n"), "\(one.text)")
        #expect(try names() == ["3"] && names(of: "b") == ["4", "5"])
        #expect(!scratch.exists(done("1.sha256")) && scratch.exists(done("3.sha256")))
        #expect(try run("show", "1").text.contains("its original was removed by processed: files 1"))

        let json = try run("prune", "--json")
        #expect(json.status == 0)
        let objects = json.text.split(separator: "\n").map(String.init)
        try #require(objects.count == 3, "\(json.text)")
        let path = "\"\(scratch.path(done("4", of: "b")).string)\""
        #expect(objects[0].contains(path) && objects[0].contains("\"rule\":\"processed: age 1 ms\""), "\(objects[0])")
        #expect(objects[2].contains("\"files\":2") && objects[2].contains("\"bytes\":24"), "\(objects[2])")
        #expect(try names(of: "b").isEmpty)
        #expect(try run("prune").text == "0 originals removed, 0 B\n")
        try stop(&daemon)
    }

    @Test func tellsWhatItCannotDo() async throws {
        try write("a")
        let without = try run("prune")
        #expect(without.status != 0 && without.text.contains("no daemon"), "\(without.text)")
        var daemon = try await starts()
        let nothing = try run("prune")
        #expect(nothing.status == 1 && nothing.text.contains("no pipeline says what is to be kept"), "\(nothing.text)")
        let other = try run("prune", "--pipeline", "z")
        #expect(other.status == 1 && other.text.contains("'z' does not run or does not say"), "\(other.text)")
        try stop(&daemon)
    }

    // MARK: What others have done

    @Test func leavesWhatIsNotAsItWasLeft() async throws {
        let names = ["changed", "folder", "gone", "linked", "moved", "swapped", "touched", "whole"]
        try write("a")
        try process(names)
        try keep(Self.atOnce)
        func path(_ name: String) -> String { scratch.path(done(name)).string }
        try scratch.write("another content", to: done("changed"))
        unlink(path("folder"))
        try scratch.write("x", to: done("folder/inner"))
        unlink(path("gone"))
        #expect(link(path("linked"), scratch.path("link").string) == 0)
        #expect(rename(path("moved"), scratch.path("moved").string) == 0)
        try scratch.link(done("moved"), to: scratch.path("moved").string)
        // Of the same content and time.
        let before = try #require(FileStatus.of(scratch.path(done("swapped"))))
        let other = try scratch.write("content of swapped", to: "swapped").string
        #expect(utimensat(AT_FDCWD, other, [before.st_atim, before.st_mtim], 0) == 0)
        #expect(rename(other, path("swapped")) == 0)
        #expect(utimensat(AT_FDCWD, path("touched"), nil, 0) == 0)
        try scratch.write("foreign", to: done("foreign"))
        // A person's, beside what goes.
        try scratch.write("of mine", to: done("whole.sha256"))

        var daemon = try await starts()
        let kept = "kept: 5 are not as we left them, 1 has other names, too\n"
        let dry = try run("prune", "--dry-run")
        #expect(dry.status == 0 && dry.text.hasSuffix("\n1 original would be removed, 16 B; \(kept)"), "\(dry.text)")
        let prune = try run("prune")
        #expect(prune.status == 0 && prune.text.hasSuffix("\n1 original removed, 16 B; \(kept)"), "\(prune.text)")
        #expect(try self.names() == ["changed", "folder", "foreign", "linked", "moved", "swapped", "touched"])
        #expect(try scratch.text(done("changed")) == "another content")
        #expect(try scratch.text(done("folder/inner")) == "x")
        #expect(try scratch.text("link") == "content of linked" && scratch.text("moved") == "content of moved")
        #expect(try scratch.text(done("swapped")) == "content of swapped")
        #expect(try scratch.text(done("whole.sha256")) == "of mine")
        #expect(try run("show", "changed").text.contains("is not as it was left, and stays"))
        #expect(try run("show", "gone").text.contains("is not where it was left"))
        // What is another's is forgotten; what has other names may have only one again.
        let again = try run("prune")
        #expect(again.text == "0 originals removed, 0 B; \(kept)")
        unlink(scratch.path("link").string)
        #expect(try run("prune").text.hasSuffix("\n1 original removed, 17 B; kept: 5 are not as we left them\n"))
        #expect(try !self.names().contains("linked"))
        try stop(&daemon)
    }

    @Test func aFailedOriginalGoesWithItsReportAndIsCountedOnce() async throws {
        try write("a", stages: "[run: { command: ['false'] }]")
        for name in ["1", "2"] { try scratch.write("content of \(name)", to: "pipelines/a-in/\(name)") }
        #expect(try run("run", "--once").status == 1)
        #expect(try run("retry", "1").status == 0)
        #expect(try run("run", "--once").status == 1)
        try write("a", stages: "[run: { command: ['false'] }]", "keep: { failed: { age: 1ms } }\n")
        var daemon = try await starts()
        let dry = try run("prune", "--dry-run")
        #expect(dry.text.hasSuffix("\n2 originals would be removed, 24 B\n"), "\(dry.text)")
        let prune = try run("prune")
        #expect(prune.text.hasSuffix("\n2 originals removed, 24 B\n"), "\(prune.text)")
        let left = try scratch.tree("pipelines/a-failed")
        #expect(left.count == 1, "\(left)")
        #expect(try run("prune").text == "0 originals removed, 0 B\n")
        try stop(&daemon)
    }

    // MARK: A folder in trouble

    @Test func aFolderThatIsNotThereIsNotTakenForAnEmptyOne() async throws {
        try write("a")
        try process(["1", "2"])
        try keep("{ processed: { files: 1 } }")
        var daemon = try await starts()
        let (folder, away) = (scratch.path("pipelines/a-done"), scratch.path("away"))
        func isAway(_ remedy: String) throws {
            let prune = try run("prune")
            #expect(
                prune.status == 1 && prune.text.contains("error: a: ") && prune.text.contains(remedy), "\(prune.text)")
            #expect(prune.text.hasSuffix("\n0 originals removed, 0 B\n"), "\(prune.text)")
        }
        #expect(rename(folder.string, away.string) == 0)
        try isAway("No such file")
        try scratch.makeFolder("pipelines/a-done")
        try isAway("is its disk mounted?")
        #expect(rmdir(folder.string) == 0 && rename(away.string, folder.string) == 0)
        #expect(try run("prune").text.hasSuffix("\n1 original removed, 12 B\n"))
        #expect(try names() == ["2"])
        // It is known by its hidden folder from now on.
        try keep(Self.atOnce)
        #expect(try run("reload").status == 0)
        #expect(rename(folder.string, away.string) == 0)
        try scratch.makeFolder("pipelines/a-done")
        try isAway("by which Dropmill knows this folder, is missing")
        #expect(rmdir(folder.string) == 0 && rename(away.string, folder.string) == 0)
        #expect(try run("prune").text.hasSuffix("\n1 original removed, 12 B\n"))
        try stop(&daemon)
    }

    /// Root without the capabilities that make it root for files is a user like any other.
    @Test(.enabled(if: geteuid() == 0 && Tool.find("setpriv") != nil, "needs root, and setpriv"))
    func aFolderThatCannotBeWrittenToIsToldOnceAndHoldsUpNoJob() async throws {
        let stages = "[{ move: { to: \"../out\", when: \"*.out\" } }]"
        try write("a", stages: stages)
        for name in ["1", "2", "3", "4"] { try scratch.write("content of \(name)", to: "pipelines/a-in/\(name)") }
        let once = try run("run", "--once")
        try #require(once.status == 0, "\(once.text)")
        try write("a", stages: stages, "keep: \(Self.atOnce)\n")
        let folder = scratch.path("pipelines/a-done").string
        #expect(chmod(folder, 0o555) == 0)
        let capabilities = "-dac_override,-dac_read_search"
        var daemon = try await starts(wrapper: [
            try #require(Tool.find("setpriv")).path.string, "--inh-caps=\(capabilities)",
            "--bounding-set=\(capabilities)",
        ])
        #expect(
            try await eventually(within: .seconds(150)) { try daemon.hasLogged("prune_failed", "Permission denied") },
            "\(daemon.transcript)")
        let failed = try run("prune")
        #expect(failed.status == 1 && failed.text.contains("Permission denied"), "\(failed.text)")
        try scratch.write("x", to: "pipelines/a-in/5.out")
        #expect(await eventually { scratch.exists("out/5.out") }, "\(daemon.transcript)")
        #expect(try names() == ["1", "2", "3", "4"])
        #expect(chmod(folder, 0o755) == 0)
        #expect(try run("prune").text.hasSuffix("\n4 originals removed, 48 B\n"))
        // Another folder has the daemon look at all, within a minute.
        try write("a", stages: stages, "keep: { processed: { age: 1ms }, failed: { age: 1d } }\n")
        #expect(try run("reload").status == 0)
        #expect(try await eventually(within: .seconds(150)) { try daemon.hasLogged("pruning") }, "\(daemon.transcript)")
        #expect(try daemon.text().split(separator: "\n").count { $0.contains("\"prune_failed\"") } == 1)
        try stop(&daemon)
    }

    // MARK: By itself

    @Test func aReloadThatAddsARuleHasOlderOnesRemoved() async throws {
        try write("a")
        var daemon = try await starts()
        for name in ["1", "2"] { try scratch.write("content of \(name)", to: "pipelines/a-in/\(name)") }
        #expect(try await eventually { try names() == ["1", "2"] })
        try keep(Self.atOnce)
        #expect(try run("reload").status == 0)
        #expect(try await eventually(within: .seconds(150)) { try names().isEmpty }, "\(daemon.transcript)")
        #expect(try await eventually { try daemon.hasLogged("pruned", "removed 2 originals (24 B)") })
        try stop(&daemon)
    }

    @Test func aRunWithOnceRemovesAtItsEnd() throws {
        try keep(Self.atOnce)
        for name in ["1", "2"] { try scratch.write("content of \(name)", to: "pipelines/a-in/\(name)") }
        let once = try run("run", "--once")
        #expect(once.status == 0 && once.text.contains("removed 2 originals"), "\(once.text)")
        #expect(try names().isEmpty && !scratch.exists(done("1.sha256")))
    }

    /// Those of the last hour stay even then.
    @Test(.enabled(if: TemporaryMount.isPossible, "needs root to mount"))
    func theOldestGoWhereSpaceIsShort() async throws {
        let mount = try TemporaryMount(tmpfs: "size=20m,mode=755", at: scratch.path("pipelines"))
        defer { withExtendedLifetime(mount) {} }
        let more = "min_free: 4MiB"
        try write("a", more)
        let clock = try FakeClock(scratch.path("clock"))
        try clock.set(days: -1)
        let block = [UInt8](repeating: 1, count: 1 << 20)
        for number in 1...6 { try scratch.write(block, to: scratch.path("pipelines/a-in/\(number)")) }
        let early = try Tool(FilePath(clock.wrapper[0])).run(
            clock.wrapper.dropFirst() + [DropmillProcess.binary.string, "run", "--once"], in: scratch.path)
        try #require(early.status == 0, "\(early.text)")
        for number in 7...8 { try scratch.write(block, to: scratch.path("pipelines/a-in/\(number)")) }
        try #require(try run("run", "--once").status == 0)
        try keep("{ processed: { age: 1y }, when_short: prune }", more)
        var daemon = try await starts()
        // 8 MiB are to be free.
        let enough = try run("prune").text
        #expect(enough == "0 originals removed, 0 B\n")
        try scratch.write([UInt8](repeating: 1, count: 5 << 20), to: scratch.path("pipelines/ballast"))
        let dry = try run("prune", "--dry-run")
        #expect(dry.text.hasSuffix("\n2 originals would be removed, 2.0 MiB\n"), "\(dry.text)")
        let prune = try run("prune")
        #expect(prune.status == 0 && prune.text.contains("processed: when_short"), "\(prune.text)")
        let left = try names()
        #expect(left.count == 6 && left.suffix(2) == ["7", "8"], "\(left)")
        try scratch.write([UInt8](repeating: 1, count: 5 << 20), to: scratch.path("pipelines/more"))
        #expect(try run("prune").status == 0)
        #expect(try names() == ["7", "8"])
        try stop(&daemon)
    }
}
