import Files
import Glibc
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@testable import PipelineEngine

/// Starts with folders that somebody else could exchange.
@Suite("Folders of ours", .timeLimit(.minutes(5))) struct OwnFoldersTests {
    private let scratch: ScratchFolder
    private static let nobody: uid_t = 65534

    init() throws { scratch = try ScratchFolder() }

    private func change(_ relative: String, mode: mode_t, owner: uid_t? = nil) throws {
        let path = try scratch.makeFolder(relative)
        if let owner { #expect(path.withPlatformString { chown($0, owner, owner) } == 0) }
        #expect(path.withPlatformString { chmod($0, mode) } == 0)
    }

    private func mode(_ relative: String) -> mode_t? {
        var status = stat()
        return scratch.path(relative).withPlatformString { lstat($0, &status) } == 0 ? status.st_mode & 0o7777 : nil
    }

    /// What a start says; nil where it goes well. The folders lie one below the other's: `base/…`.
    private func start(_ adjust: (inout Pipeline) -> Void = { _ in }) async throws -> String? {
        let engine = try EngineHarness(scratch: scratch, stages: [try .publishing(below: scratch.path("base/out"))]) {
            $0.inbox = scratch.path("drops/inbox")
            $0.work = scratch.path("base/work/test")
            $0.processed = .folder(scratch.path("base/processed"))
            $0.failed = scratch.path("base/failed")
            adjust(&$0)
        }
        do {
            try engine.start(once: true)
        } catch let error as EngineError {
            #expect(error.kind == .configuration)
            return error.message
        }
        #expect(await eventually { engine.summary != nil })
        return nil
    }

    @Test("Where nobody else may write it starts, whatever the inbox is")
    func well() async throws {
        try change("drops/inbox", mode: 0o2775)
        #expect(try await start() == nil)
    }

    @Test(
        "What a start makes, and what is made in the state folder, is nobody else's to change, whatever the umask says")
    func umask() async throws {
        await #expect(processExitsWith: .success) {
            _ = Glibc.umask(0)
            let tests = try OwnFoldersTests()
            guard try await tests.start() == nil else { exit(2) }
            for folder in ["base", "base/processed", "base/failed", "base/work"] where tests.mode(folder) != 0o755 {
                exit(3)
            }
            // Folders of outputs are made when something goes there.
            let engine = try EngineHarness(
                scratch: tests.scratch,
                stages: [
                    .fake { [folder = tests.scratch.path("base/out")] payload, _ throws(Failure) in
                        var payload = payload
                        payload.destination = folder.appending("deep")
                        return payload
                    }, try .publishing(below: tests.scratch.path("base/out")),
                ])
            try engine.start()
            try engine.drop("a")
            guard await eventually({ !engine.reports.isEmpty }) else { exit(4) }
            guard ["base/out", "base/out/deep"].allSatisfy({ tests.mode($0) == 0o755 }) else { exit(5) }
            let names = try Folder.names(in: tests.scratch.path("state")).map(\.text)
            guard names.contains("journal.sqlite-wal"), names.contains("journal.sqlite-shm") else { exit(6) }
            for name in names where tests.mode("state/\(name)") != 0o600 { exit(7) }
            _ = await engine.stop()
        }
    }

    @Test(
        "A start refuses a folder on the way that others may write to, and says which, and what to do",
        arguments: ["base", "base/work", "base/processed", "base/failed", "base/out"])
    func writable(folder: String) async throws {
        try change(folder, mode: 0o775)
        let said = try #require(try await start())
        #expect(said.hasPrefix("test.yaml: the folder of '"), "\(said)")
        #expect(
            said.contains("'\(scratch.path(folder).text)' is writable by others (root:root, mode 0775)"),
            "\(said)")
        #expect(said.contains("chmod go-w '\(scratch.path(folder).text)'"), "\(said)")
        #expect(said.hasSuffix("or accept it: `trust: [\"\(scratch.path(folder).text)\"]` in the pipeline"), "\(said)")
        #expect(try await start { $0.trust = [scratch.path(folder)] } == nil)
    }

    @Test("A start refuses folders and links of somebody else", .enabled(if: geteuid() == 0, "needs root"))
    func strangers() async throws {
        try change("theirs", mode: 0o755, owner: Self.nobody)
        try scratch.makeFolder("base")
        try scratch.link("base/out", to: "../theirs")
        #expect(try await start()?.contains("'\(scratch.path("theirs").text)' belongs to nobody (mode 0755)") == true)
        _ = scratch.path("base/out").withPlatformString { lchown($0, Self.nobody, Self.nobody) }
        try change("theirs", mode: 0o755, owner: 0)
        #expect(
            try await start()?.contains("the symbolic link '\(scratch.path("base/out").text)' belongs to nobody")
                == true)
        #expect(try await start { $0.trust = [scratch.path("base/out")] } == nil)
    }

    @Test("An output that anybody could make first is made at the start")
    func forestalled() async throws {
        try change("base", mode: 0o1777)
        #expect(try await start() == nil)
        #expect(mode("base/out") == 0o755)
    }

    @Test("The default work folder lies below what holds the inbox, which is not to be the senders'")
    func besideInbox() async throws {
        try change("drops", mode: 0o777)
        let said = try #require(try await start { $0.work = nil })
        #expect(said.contains("the folder of 'work' cannot be trusted: '\(scratch.path("drops").text)'"), "\(said)")
        #expect(said.contains("set 'work:' to a folder owned by"), "\(said)")
        #expect(try await start() == nil)
    }

    @Test(
        "In an inbox that is a mount point the work folder is safe where it is sticky",
        .enabled(if: TemporaryMount.isPossible, "needs root to mount"))
    func mountPoint() async throws {
        let mount = try TemporaryMount(tmpfs: "size=4m,mode=777", at: scratch.path("drops/inbox"))
        defer { withExtendedLifetime(mount) {} }
        let said = try #require(try await start { $0.work = nil })
        #expect(said.contains("mount its file system one level higher"), "\(said)")
        #expect(said.contains("chmod +t '\(mount.path.text)'"), "\(said)")
        try change("drops/inbox", mode: 0o1777)
        #expect(try await start { $0.work = nil } == nil)
    }

    // MARK: State

    @Test("A state folder that others could read is closed with all that is in it, and that is said once")
    func closesState() async throws {
        #expect(try await start() == nil)
        for name in ["journal.sqlite", "journal.sqlite-wal", "journal.sqlite-shm"] where scratch.exists("state/\(name)")
        {
            #expect(mode("state/\(name)") == 0o600, "\(name) was made so")
            _ = scratch.path("state/\(name)").withPlatformString { chmod($0, 0o644) }
        }
        try change("state", mode: 0o755)
        #expect(mode("state/journal.sqlite") == 0o644)
        let engine = try EngineHarness(scratch: scratch, stages: [.passing])
        for expected in [1, 0] {
            let before = engine.events.count
            try engine.start(once: true)
            #expect(await eventually { engine.summary != nil })
            let said = engine.events.dropFirst(before).filter {
                if case .warning(nil, let message) = $0 { message.contains("it is private now") } else { false }
            }
            #expect(said.count == expected)
        }
        #expect(mode("state") == 0o700)
        #expect(mode("state/journal.sqlite") == 0o600)
    }

    @Test(
        "A state folder that others may write to, or of somebody else, is refused, whatever is accepted",
        arguments: [0, 1, 2, 3])
    func refusesState(attempt: Int) async throws {
        guard geteuid() == 0 || attempt == 0 else { return }
        switch attempt {
        case 0: try change("state", mode: 0o777)
        case 1: try change("state", mode: 0o700, owner: Self.nobody)
        case 2:
            try change("theirs", mode: 0o755, owner: Self.nobody)
            try change("theirs/state", mode: 0o700, owner: 0)
            try scratch.link("state", to: "theirs/state")
        default:
            try change("state", mode: 0o700)
            let journal = try scratch.write("", to: "state/journal.sqlite")
            _ = journal.withPlatformString { chown($0, Self.nobody, Self.nobody) }
        }
        let said = try #require(try await start { $0.trust = [scratch.path("state")] })
        #expect(said.contains("state folder") || said.contains("as the journal"), "\(said)")
        #expect(said.contains("--state"), "\(said)")
    }
}
