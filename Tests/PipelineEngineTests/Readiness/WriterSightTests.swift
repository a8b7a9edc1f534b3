import Files
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import FolderWatch
@testable import Readiness

@Suite("WriterSight", .timeLimit(.minutes(5))) struct WriterSightTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    /// Another process that has the file open for writing, until the body is over.
    private func heldOpen<Result>(_ path: FilePath, _ body: (pid_t) async throws -> Result) async throws -> Result {
        let null = try OpenFile.open("/dev/null", O_WRONLY)
        let ready = scratch.path("ready")
        // A shell's own redirection: the descriptor is inherited by what it becomes.
        let script = "exec 3>>'\(path.string)'; : > '\(ready.string)'; exec sleep 600"
        let process = try ChildProcess.spawn(
            "/bin/sh", ["-c", script].map { Array($0.utf8) }, output: null.descriptor, error: null.descriptor)
        defer {
            kill(process, SIGKILL)
            var status: Int32 = 0
            waitpid(process, &status, 0)
        }
        #expect(await eventually { scratch.exists("ready") })
        return try await body(process)
    }

    private func writers(_ sight: WriterSight, _ path: FilePath) throws -> OpenWriters {
        let file = try OpenFile.open(path, O_RDONLY)
        return sight.writers(of: file.descriptor, FileIdentity(try file.status()))
    }

    @Test("A lease shows that somebody writes, the processes show who")
    func names() async throws {
        let path = try scratch.write("x", to: "a")
        let sight = WriterSight(of: scratch.path)
        #expect(try writers(sight, path) == .none)
        try await heldOpen(path) { process in
            guard case .some(let writer) = try writers(sight, path) else {
                Issue.record("not seen")
                return
            }
            #expect(writer.process == process)
            #expect(["sh", "dash", "bash", "sleep"].contains(writer.program ?? ""))
        }
        #expect(try writers(sight, path) == .none)
        #expect(sight.news() == .leases)
        #expect(sight.news() == nil, "told once")
    }

    @Test("A patient one learns the name by and by, without making anybody wait")
    func patient() async throws {
        let path = try scratch.write("x", to: "a")
        let sight = WriterSight(of: scratch.path, isPatient: true)
        try await heldOpen(path) { process in
            let isNamed = try await eventually {
                if case .some(let writer) = try writers(sight, path) { writer.process == process } else { false }
            }
            #expect(isNamed)
        }
    }

    @Test(
        "Without leases the processes alone decide, where all of them can be seen",
        .enabled(if: ProcessScan().isComplete, "needs the right to see all processes"))
    func processes() async throws {
        let path = try scratch.write("x", to: "a")
        let identity = try #require(FileIdentity.of(path))
        try await heldOpen(path) { process in
            #expect(ProcessScan().writer(of: identity)?.process == process)
            #expect(WriterSight(of: scratch.path).seen(identity).areKnown)
        }
        let sight = WriterSight(of: scratch.path)
        #expect(sight.seen(identity) == .none)
        #expect(sight.news() == .processes)
    }

    @Test(
        "Looks share one walk through the processes; a proof has one that is younger than its claim, and rests after it"
    )
    func sharedScans() {
        let sight = WriterSight(of: scratch.path)
        let begun = MonotonicTime.now()
        for _ in 0..<100 { _ = sight.visitor(of: [.unknown], since: begun) }
        #expect(sight.scans == 1)
        #expect(sight.restEnds > begun)
        _ = sight.seen(.unknown, since: begun)
        #expect(sight.scans == 2, "the first was without mappings")
        for _ in 0..<100 { _ = sight.visitor(of: [.unknown], since: begun) }
        #expect(sight.scans == 2)
        _ = sight.visitor(of: [.unknown], since: .now())
        #expect(sight.scans == 3)
    }

    @Test("A mapping that outlives its descriptor is seen too", .enabled(if: Tool.find("python3") != nil))
    func mapping() async throws {
        let path = try scratch.write("xxxx", to: "a")
        let null = try OpenFile.open("/dev/null", O_WRONLY)
        let script = """
            import mmap, os, signal
            f = os.open('\(path.string)', os.O_RDWR)
            m = mmap.mmap(f, 4)
            os.close(f)
            open('\(scratch.path("ready").string)', 'w')
            signal.pause()
            """
        let python = try #require(Tool.find("python3")).path
        let process = try ChildProcess.spawn(
            python, ["-c", script].map { Array($0.utf8) }, output: null.descriptor, error: null.descriptor)
        defer {
            kill(process, SIGKILL)
            var status: Int32 = 0
            waitpid(process, &status, 0)
        }
        #expect(await eventually { scratch.exists("ready") })
        let identity = try #require(FileIdentity.of(path))
        #expect(ProcessScan().writer(of: identity) != nil)
    }
}
