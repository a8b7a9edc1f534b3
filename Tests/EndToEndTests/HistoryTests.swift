import Files
import Glibc
import SystemPackage
import TestSupport
import TestTools
import Testing

/// How long a daemon keeps jobs that are over, and what it logs, as `dropmill.yaml` says.
@Suite(.timeLimit(.minutes(5))) struct HistoryTests {
    private let scratch: ScratchFolder

    init() throws {
        scratch = try ScratchFolder()
        try scratch.write(
            """
            inbox: ../in
            processed: ../done
            failed: ../failed
            ready: { quiet: 10ms }
            stages: [checksum]

            """, to: "pipelines/a.yaml")
    }

    private func dropmill(_ arguments: [String]) throws -> Tool.Output {
        try Tool(DropmillProcess.binary).run(arguments + ["--state-dir", "state"], in: scratch.path)
    }

    private func settings(_ text: String) throws { try scratch.write(text + "\n", to: "dropmill.yaml") }

    private func start(log: String = "log") async throws -> DropmillProcess {
        let daemon = try DropmillProcess(
            ["run", "pipelines", "--state-dir", "state", "--log-format", "json"], in: scratch.path,
            log: scratch.path(log))
        try #require(try await eventually { try daemon.hasLogged("started") }, "\(daemon.transcript)")
        return daemon
    }

    private func stop(_ daemon: inout DropmillProcess) async throws {
        try daemon.send(SIGTERM)
        #expect(try await eventually { try daemon.hasEnded() })
        try daemon.end()
        #expect(daemon.status == 0)
    }

    private func reload() throws {
        let reload = try dropmill(["reload"])
        try #require(reload.status == 0, "\(reload.text)")
    }

    /// Those that are over, newest first.
    private func jobs() throws -> [String] {
        try dropmill(["jobs", "--limit", "100"]).text.split(separator: "\n").dropFirst().compactMap { line in
            line.split(separator: " ").first { $0.hasSuffix(".txt") }.map(String.init)
        }
    }

    private func drop(_ numbers: ClosedRange<Int>) async throws {
        for number in numbers {
            try scratch.write("content of \(number)", to: "in/\(number).txt")
            try #require(try await eventually { try jobs().first == "\(number).txt" })
        }
    }

    /// What the newest of so many files of the archive holds.
    private func archived(files: Int = 1) throws -> [String] {
        let zstd = try #require(Tool.find("zstd"))
        let names = try Folder.names(in: scratch.path("archive")).map(\.text).sorted { $0.count < $1.count }
        #expect(names.count == files)
        #expect(names.allSatisfy { $0.hasPrefix("dropmill-20") && $0.hasSuffix(".jsonl.zst") })
        let lines = try zstd.run(["-dcq", scratch.path("archive/\(names.last ?? "")").string])
        return lines.text.split(separator: "\n").compactMap { line in
            #expect(line.hasPrefix("{\"id\":") && line.hasSuffix("}") && line.contains("\"history\":[{"))
            return line.split(separator: "\"").first { $0.hasSuffix(".txt") }.map(String.init)
        }
    }

    @Test(.enabled(if: Tool.find("zstd") != nil, Comment(rawValue: Tool.skip("zstd"))))
    func theOldestGoIntoTheArchiveOrStay() async throws {
        try settings("history: { jobs: 1000000, archive: archive }")
        var daemon = try await start()
        try await drop(1...5)
        // The folder is not there.
        try settings("history: { jobs: 2, archive: archive }")
        try reload()
        #expect(try await eventually { try daemon.hasLogged("archive_failed", "make the folder, or mount") })
        #expect(try jobs().count == 5)
        try scratch.makeFolder("archive")
        try settings("history: { jobs: 3, archive: archive }")
        try reload()
        #expect(try await eventually { try jobs() == ["5.txt", "4.txt", "3.txt"] }, "\(daemon.transcript)")
        #expect(try archived() == ["1.txt", "2.txt"])
        #expect(try await eventually { try daemon.hasLogged("archiving") })
        // Killed, and somebody has added to the file meanwhile.
        try daemon.send(SIGKILL)
        try daemon.end()
        let name = try #require(try Folder.names(in: scratch.path("archive")).first)
        try scratch.append([0x28, 0xB5, 0x2F], to: scratch.path("archive/\(name.text)"))
        daemon = try await start(log: "second")
        try settings("history: { jobs: 1, archive: archive }")
        try reload()
        #expect(try await eventually { try jobs() == ["5.txt"] }, "\(daemon.transcript)")
        #expect(try archived(files: 2) == ["3.txt", "4.txt"])
        try await stop(&daemon)
    }

    @Test func theLevelOfTheLogCanChangeAndFlagsWin() async throws {
        try settings("log: { level: warning }\nhistory: { jobs: 1 }")
        var daemon = try DropmillProcess(
            ["run", "pipelines", "--state-dir", "state", "--log-format", "json", "--keep-history", "30d"],
            in: scratch.path, log: scratch.path("log"))
        try #require(try await eventually { try dropmill(["health"]).status == 0 })
        try await drop(1...2)
        #expect(try !daemon.hasLogged("started") && !daemon.hasLogged("processed"))
        try settings("log: { level: debug, format: text }\nhistory: { processed: 1m }")
        let reload = try dropmill(["reload"])
        #expect(reload.text.contains("'log.format'") == false, "the flag says it: \(reload.text)")
        try await drop(3...3)
        #expect(try await eventually { try daemon.hasLogged("claimed", "3.txt") })
        try await stop(&daemon)
    }

    @Test func theJournalIsRewrittenWhileNobodyHasIt() async throws {
        var daemon = try await start()
        try await drop(1...2)
        let early = try dropmill(["journal", "compact"])
        #expect(early.status == 75 && early.text.contains("stop that one"), "\(early)")
        try await stop(&daemon)
        let rewritten = try dropmill(["journal", "compact"])
        #expect(rewritten.status == 0 && rewritten.text.hasPrefix("the journal took "), "\(rewritten)")
        #expect(try jobs() == ["2.txt", "1.txt"])
        daemon = try await start(log: "second")
        try await drop(3...3)
        try await stop(&daemon)
        let absent = try Tool(DropmillProcess.binary).run(
            ["journal", "compact", "--state-dir", "none"], in: scratch.path)
        #expect(absent.status == 1 && absent.text.contains("There is no journal"), "\(absent)")
        #expect(!scratch.exists("none"))
    }
}
