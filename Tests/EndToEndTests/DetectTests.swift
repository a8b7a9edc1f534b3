import Files
import Glibc
import PipelineKit
import SystemPackage
import TestSupport
import Testing

/// libmagic, seen from outside of the daemon: who has its rules in memory, and what a file may do that it hangs or dies
/// over.
@Suite(.timeLimit(.minutes(5))) struct DetectTests {
    /// Whose rights the daemon has.
    enum Rights: CaseIterable { case own, nobody }

    private static let nobody: uid_t = 65534

    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private func daemon(_ stages: String, _ rights: Rights = .own) throws -> DropmillProcess {
        for name in ["inbox", "processed", "failed", "output", "pipelines", "state"] {
            let folder = try scratch.makeFolder(name)
            if rights == .nobody { try #require(chown(folder.string, Self.nobody, Self.nobody) == 0) }
        }
        if rights == .nobody { try #require(chown(scratch.path.string, Self.nobody, Self.nobody) == 0) }
        try scratch.write(
            """
            inbox: ../inbox
            processed: ../processed
            failed: ../failed
            ready: { quiet: 20ms }
            retry: { attempts: 1 }
            stages: \(stages)

            """,
            to: "pipelines/main.yaml")
        let setpriv = try #require(Tool.find("setpriv")).path.string
        let number = "\(Self.nobody)"
        return try DropmillProcess(
            ["run", "--log-format", "json", "--state", scratch.path("state").string], in: scratch.path,
            log: scratch.path("log"),
            wrapper: rights == .own
                ? [] : [setpriv, "--reuid", number, "--regid", number, "--clear-groups", "--inh-caps=-all"])
    }

    /// Not there before it is whole.
    private func drop(_ name: String, _ contents: String, _ rights: Rights = .own) throws {
        let outside = try scratch.write(contents, to: "outside")
        if rights == .nobody { try #require(chown(outside.string, Self.nobody, Self.nobody) == 0) }
        let target = scratch.path("inbox/\(name)").string
        try #require(rename(outside.string, target) == 0)
    }

    private func processes(_ name: String, of daemon: DropmillProcess) throws -> [pid_t] {
        try ProcessList.children(of: daemon.id, startedWith: "type-worker", named: name)
    }

    /// Whether libmagic's rules are in a process's memory, in whichever file they are.
    private func hasRules(_ process: pid_t) throws -> Bool {
        try #require(ProcessList.text("\(process)/maps")).split(separator: "\n").contains { $0.hasSuffix("magic.mgc") }
    }

    @Test(
        "A helper that hangs is ended by the stage's timeout, one that is killed is replaced; the daemon has no rules",
        .enabled(if: geteuid() == 0 && Tool.find("setpriv") != nil, "needs root, and setpriv"),
        arguments: Rights.allCases)
    func helpers(rights: Rights) async throws {
        let options = #"timeout: 1s }, select: { type: "text/*", timeout: 1s }, move: { to: ../output }"#
        var daemon = try daemon(#"[detect: { only: "text/*", "# + options + "]", rights)
        try drop("a.txt", "one\n", rights)
        try #require(await eventually { scratch.exists("output/a.txt") }, "\(daemon.transcript)")
        let helper = try #require(try processes("dropmill-helper", of: daemon).first)
        #expect(try processes("dropmill-helper", of: daemon).count == 1, "one serves both stages")
        #expect(try hasRules(helper))
        #expect(try !hasRules(daemon.id))

        try #require(kill(helper, SIGSTOP) == 0)
        try drop("hangs.txt", "two\n", rights)
        try #require(await eventually { scratch.exists("failed/hangs.txt") }, "\(daemon.transcript)")
        #expect(try await eventually { try daemon.hasLogged("failed", "stage.timeout") }, "\(daemon.transcript)")
        #expect(ProcessList.isGone(helper))
        try drop("b.txt", "three\n", rights)
        try #require(await eventually { scratch.exists("output/b.txt") }, "\(daemon.transcript)")

        for process in try processes("dropmill-helper", of: daemon) + processes("dropmill-types", of: daemon) {
            try #require(kill(process, SIGKILL) == 0)
        }
        try drop("c.txt", "four\n", rights)
        try drop("d.txt", "%PDF-1.7\n", rights)
        let isDone = await eventually { scratch.exists("output/c.txt") && scratch.exists("failed/d.txt") }
        try #require(isDone, "\(daemon.transcript)")
        #expect(try await eventually { try daemon.hasLogged("failed", "detect.type") })
        #expect(try !daemon.hasLogged("paused"))
        try daemon.send(SIGTERM)
        #expect(try daemon.wait() == 0)
    }

    @Test("Neither is there any helper where no stage asks, nor one that outlives a killed daemon")
    func onlyWhileNeeded() async throws {
        var daemon = try daemon(#"[detect: { when: { name: "*.txt" } }]"#)
        try drop("a.bin", "one")
        try #require(await eventually { scratch.exists("processed/a.bin") }, "\(daemon.transcript)")
        #expect(try processes("dropmill-helper", of: daemon).isEmpty)
        #expect(try processes("dropmill-types", of: daemon).isEmpty)
        try drop("a.txt", "one")
        try #require(await eventually { scratch.exists("processed/a.txt") }, "\(daemon.transcript)")
        let started = try processes("dropmill-helper", of: daemon) + processes("dropmill-types", of: daemon)
        #expect(started.count == 2)
        // One that is stopped cannot see that the daemon is gone: only the kernel can end it.
        for process in started { kill(process, SIGSTOP) }
        try daemon.end()
        #expect(await eventually { started.allSatisfy { ProcessList.isOver($0) } })
    }

    @Test("Files of this machine are told as the program 'file' tells them", .enabled(if: Tool.find("file") != nil))
    func realFiles() async throws {
        let file = try #require(Tool.find("file"))
        var daemon = try daemon(#"[detect, rename: { to: "{name}={type}={encoding}" }, move: { to: ../output }]"#)
        var expected: [String] = []
        for folder in ["/usr/bin", "/usr/lib/python3", "/usr/share/misc", "/etc"] {
            let root = FilePath(folder)
            guard Folder.kind(of: root) == .folder else { continue }
            for (index, found) in try FileTree.list(root).files.prefix(2000).enumerated() where index % 40 == 0 {
                let path = root.pushing(found.relative)
                let copy = scratch.path("outside")
                guard try Tool("/bin/cp").run([path.string, copy.string]).status == 0 else { continue }
                let name = "\(expected.count).bin"
                let answer = try file.run(["-b", "--mime", "-P", "bytes=7340032", copy.string]).text
                let words = answer.split(separator: "\n").joined().split(separator: "; charset=")
                // What is empty it judges without its rules, by a name that it has: `inode/x-empty`.
                guard words.count == 2, !words[0].hasPrefix("inode/") else { continue }
                expected.append("\(name)=\(words[0].split(separator: "/").joined(separator: "-"))=\(words[1])")
                try #require(rename(copy.string, scratch.path("inbox/\(name)").string) == 0)
            }
        }
        #expect(expected.count > 20)
        let isDone = try await eventually { try Folder.names(in: scratch.path("output")).count == expected.count }
        #expect(isDone, "\(daemon.transcript)")
        let told = Set(try Folder.names(in: scratch.path("output")).map(\.text))
        #expect(told.symmetricDifference(expected) == [])
        try daemon.send(SIGTERM)
        #expect(try daemon.wait() == 0)
    }
}
