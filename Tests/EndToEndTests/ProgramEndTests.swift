import Files
import Glibc
import SystemPackage
import TestSupport
import TestTools
import Testing

/// What `run` starts ends with the daemon, however that ends.
@Suite(.timeLimit(.minutes(5))) struct ProgramEndTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    /// The first time it hangs, with a child in its group and one that left it; all of them would write later.
    private static let script = """
        if [ -e "$1/again" ]; then echo new > made; exit; fi
        cd "$1"
        trap '' TERM HUP
        (sleep 1000; echo late > "$DROPMILL_DIR/late") & echo $! >> pids
        setsid sh -c 'echo $$ >> pids; sleep 1000; echo late > "$DROPMILL_DIR/later"' &
        echo $$ >> pids
        wait
        """

    @Test func aKilledDaemonTakesItsProgramsAlong() async throws {
        try scratch.write(Self.script, to: "program.sh")
        try scratch.write(
            """
            inbox: ../in
            processed: ../done
            failed: ../failed
            stages:
              - run:
                  command: [sh, "\(scratch.path("program.sh").string)", "\(scratch.path.string)"]
                  output: replace
              - move: { to: ../out }
            """, to: "pipelines/a.yaml")
        try scratch.write("x", to: "in/drop.txt")
        var daemon = try DropmillProcess(["run"], in: scratch.path, log: scratch.path("log"))
        let areUp = try await eventually { try processes().count == 3 }
        #expect(areUp, "\(daemon.transcript)")
        let started = try processes()
        try daemon.end()
        let areGone = await eventually { started.allSatisfy(Self.isDead) }
        #expect(areGone)

        try scratch.write("", to: "again")
        var next = try DropmillProcess(["run", "--once"], in: scratch.path, log: scratch.path("log"))
        let status = try next.wait()
        #expect(status == 0, "\(next.transcript)")
        #expect(try scratch.tree("out") == ["made"])
    }

    /// However long the keeper takes to say anything.
    @Test(.enabled(if: Tool.find("strace") != nil, Comment(rawValue: Tool.skip("strace"))))
    func aProgramThatKillsItsKeeperAtOnceLeavesNothing() async throws {
        let strace = try #require(Tool.find("strace"))
        try scratch.write(
            "sleep 1000 & echo $! $$ > \(scratch.path("pids").string); kill -9 $PPID; exec sleep 1000",
            to: "program.sh")
        try scratch.write(
            """
            inbox: ../in
            processed: ../done
            failed: ../failed
            retry: { attempts: 1 }
            stages: [{ run: { command: [sh, "\(scratch.path("program.sh").string)"] } }]
            """, to: "pipelines/a.yaml")
        try scratch.write("x", to: "in/drop.txt")
        // `-D`: the daemon is our child, and strace its.
        let slow = [
            "-D", "-f", "-qq", "-e", "trace=sendto", "-e", "inject=sendto:delay_enter=300000", "-o", "/dev/null",
        ]
        var daemon = try DropmillProcess(
            ["run"], in: scratch.path, log: scratch.path("log"), wrapper: [strace.path.string] + slow)
        #expect(try await eventually { try processes().count == 2 }, "\(daemon.transcript)")
        let started = try processes()
        #expect(await eventually { started.allSatisfy(Self.isDead) }, "\(daemon.transcript)")
        try daemon.end()
    }

    private func processes() throws -> [pid_t] {
        guard scratch.exists("pids") else { return [] }
        return try scratch.text("pids").split { $0.isWhitespace }.compactMap { pid_t($0) }
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
}
