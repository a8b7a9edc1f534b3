import Archive
import Files
import Glibc
import SystemPackage
import TestSupport
import Testing

/// The process that makes helpers: when another is started, and that nothing is left of one that is over.
@Suite struct UnpackServerTests: UnpackHelperTesting {
    let scratch: ScratchFolder
    let folder: FilePath

    init() throws {
        scratch = try ScratchFolder()
        folder = try scratch.makeFolder("out")
    }

    /// Helpers whose servers leave their numbers.
    private func counted(_ command: [String], patience: Int32 = 10_000) -> UnpackHelpers {
        let script = "echo $$ >>'\(scratch.path("servers").string)'; exec \"$@\""
        return helpers("/bin/sh", ["-c", script, "sh"] + command, patience: patience)
    }

    private static let command = [DropmillProcess.binary.string, "unpack-worker"]

    private func servers() throws -> [pid_t] {
        try scratch.text("servers").split(separator: "\n").compactMap { pid_t($0) }
    }

    /// Whether there is no such process, not even one that nobody has waited for.
    private func isGone(_ process: pid_t) -> Bool { kill(process, 0) == -1 && errno == ESRCH }

    private func unpackAnew(_ helpers: UnpackHelpers) throws {
        let archive = try zip()
        #expect(try unpack(helpers, archive).entries == 3)
        try Folder.remove(scratch.path("out/d"))
    }

    @Test func oneForMany() throws {
        let helpers = counted(Self.command)
        for _ in 0..<3 { try unpackAnew(helpers) }
        #expect(try servers().count == 1)
    }

    /// It is killed for its memory, say: nobody notices but the process that has to be started.
    @Test func killedBetweenArchives() throws {
        let helpers = counted(Self.command)
        for round in 1...3 {
            try unpackAnew(helpers)
            #expect(try servers().count == round)
            let server = try #require(try servers().last)
            try #require(kill(server, SIGKILL) == 0)
        }
        try unpackAnew(helpers)
        let servers = try servers()
        #expect(servers.count == 4)
        for server in servers.dropLast() { #expect(isGone(server)) }
    }

    @Test func stopped() throws {
        let helpers = counted(Self.command, patience: 2000)
        try unpackAnew(helpers)
        let server = try #require(try servers().first)
        try #require(kill(server, SIGSTOP) == 0)
        try unpackAnew(helpers)
        #expect(try servers().count == 2)
        #expect(isGone(server))
    }

    /// A program that makes no helpers is started some times for an order, or once where it takes its time, and goes
    /// with all that it has started.
    @Test func othersThatDoNotServe() async throws {
        let child = scratch.path("child").string
        let hanging = counted(["/bin/sh", "-c", "sleep 1000 & echo $! >'\(child)'; wait"], patience: 500)
        #expect(try failure { try unpack(hanging, zip()) } == .unavailable(.timedOut))
        #expect(try servers().count == 1)
        #expect(isGone(try #require(try servers().first)))
        let left = try #require(pid_t(try scratch.text("child").split(separator: "\n").joined()))
        #expect(await eventually { isGone(left) })

        #expect(try failure { try unpack(counted(["/bin/true"]), zip()) } == .unavailable(.noChildProcess))
        #expect(try servers().count == 1 + 8)
    }

    /// All helpers of a server have one layout of memory. A crash may be a guess at it; the next one has another.
    @Test func anotherAfterACrash() throws {
        let helpers = counted([DropmillProcess.built("served").string, "/bin/sh", "-c", Self.begun + "kill -SEGV $$"])
        for round in 1...3 {
            let failure = try failure { try unpack(helpers, zip()) }
            #expect(failure == .crashed(signal: SIGSEGV, status: 0, log: ""))
            #expect(try servers().count == round)
        }
    }

    /// A helper is a child of this process, in a group of its own, and has nothing open but what it needs.
    @Test func whatAHelperHas() throws {
        let tale = scratch.path("tale").string
        // In brackets, so that the shell itself opens nothing for it.
        let script = "(ls /proc/$$/fd >'\(tale)'); cat /proc/$$/stat >>'\(tale)'; " + Self.done
        #expect(try unpack(fakes("/bin/sh", "-c", script), zip()).entries == 1)
        let lines = try scratch.text("tale").split(separator: "\n").map(String.init)
        #expect(lines.dropLast() == ["0", "1", "2", "3"])
        // Its number, name, state, parent and group.
        let status = try #require(lines.last).split(separator: " ")
        #expect(status[3] == "\(getpid())")
        #expect(status[4] == status[0])
    }

    /// Where a process cannot learn what a copy of it needs to know, it becomes the helper itself.
    @Test func withoutCopies() throws {
        let helpers = counted([DropmillProcess.built("oldkernel").string, "tid-address"] + Self.command)
        for _ in 0..<3 { try unpackAnew(helpers) }
        let servers = try servers()
        #expect(servers.count == 3)
        for server in servers { #expect(isGone(server)) }
    }
}
