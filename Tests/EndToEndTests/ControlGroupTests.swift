import Files
import Glibc
import SystemPackage
import TestSupport
import Testing

/// Who may ask a daemon, and who may change something: real users of this machine.
@Suite(.timeLimit(.minutes(5)), .enabled(if: DaemonUser.possible.count > 1, "needs root, and setpriv"))
struct ControlGroupTests {
    /// Some that no account has, so that the group is what counts.
    private enum Who: Int, CaseIterable {
        case owner = 41_001
        case member, stranger

        func wrapper(inGroup: Bool) -> [String] {
            [
                "--reuid=\(rawValue)", "--regid=\(rawValue)",
                inGroup ? "--groups=\(ControlGroupTests.group)" : "--clear-groups",
            ]
        }
    }

    private static let group: gid_t = 100
    private let scratch: ScratchFolder
    private let name: String

    init() throws {
        scratch = try ScratchFolder()
        #expect(chmod(scratch.path.string, 0o755) == 0)
        name = try #require(getgrgid(Self.group).map { String(cString: $0.pointee.gr_name) })
        let folders = "inbox: ../in\nprocessed: ../done\nfailed: ../failed\n"
        try scratch.write(folders + "ready: { quiet: 50ms }\nstages: [checksum]\n", to: "etc/pipelines/press.yaml")
        try set("control_group: \(name)")
        try scratch.makeFolder("etc/in")
        for folder in ["etc", "etc/in", "."] {
            #expect(chown(scratch.path(folder).string, uid_t(Who.owner.rawValue), gid_t(Who.owner.rawValue)) == 0)
        }
    }

    private func set(_ text: String) throws { try scratch.write(text, to: "etc/dropmill.yaml") }

    private var places: [String] { ["--state-dir", scratch.path("state").string] }

    private func start(inGroup: Bool = true) throws -> DropmillProcess {
        try DropmillProcess(
            ["run", scratch.path("etc/pipelines").string] + places, in: scratch.path, log: scratch.path("log"),
            wrapper: ["/usr/bin/setpriv"] + Who.owner.wrapper(inGroup: inGroup))
    }

    private func run(_ who: Who, _ arguments: String...) throws -> Tool.Output { try run(who, arguments) }

    private func run(_ who: Who, _ arguments: [String]) throws -> Tool.Output {
        try run(who, program: [DropmillProcess.binary.string] + arguments + places)
    }

    private func run(_ who: Who, program words: [String]) throws -> Tool.Output {
        let setpriv = try #require(Tool.find("setpriv"))
        return try setpriv.run(who.wrapper(inGroup: who != .stranger) + words, in: scratch.path)
    }

    private func mode(_ path: String) -> mode_t? { FileStatus.of(scratch.path(path)).map { $0.st_mode & 0o7777 } }

    private func settleOne() async throws {
        try scratch.write("x", to: "etc/in/one")
        #expect(chown(scratch.path("etc/in/one").string, uid_t(Who.owner.rawValue), gid_t(Who.owner.rawValue)) == 0)
        try #require(await eventually { scratch.exists("etc/done/one") })
    }

    @Test func theGroupIsToldAndOnlyTheOwnerChanges() async throws {
        var daemon = try start()
        try #require(await eventually { mode("state/control.sock") == 0o660 }, "\(daemon.transcript)")
        try await settleOne()
        for verb in ["pause", "resume"] { #expect(try run(.owner, verb).status == 0) }
        for words in [["jobs"], ["show", "one"], ["audit"], ["health"], ["explain", "etc/done/one", "etc/pipelines"]] {
            let (own, told) = (try run(.owner, words + ["--json"]), try run(.member, words + ["--json"]))
            #expect(own.status == 0 && own.bytes == told.bytes, "\(words): \(own.text)\n\(told.text)")
            #expect(try run(.member, words).status == 0)
            let said = try run(.stranger, words)
            #expect(said.status != 0 && !said.text.contains("checksum"), "\(said.text)")
        }
        let told = try run(.member, "status", "--json").text
        #expect(told.contains(#""running":true"#) && told.contains(#""processed":1"#), "\(told)")
        #expect(try run(.member, "health", "--max-age", "1h", "--max-failed", "3").status == 0)
        #expect(try run(.member, "show", "two").text.contains("no job has the id or name 'two'"))
        let closed = try run(.stranger, "status")
        #expect(closed.status == 77 && closed.text.contains("as a member of its 'control_group'"), "\(closed.text)")
        let refused = try run(.member, "pause")
        #expect(refused.status == 77)
        #expect(refused.text.contains("members of the group \(name) may look, not change"), "\(refused.text)")
        #expect(refused.text.contains("or set control_group_may: change"), "\(refused.text)")
        #expect(try run(.stranger, "pause").status == 77)
        let doctor = try run(.member, "doctor", "etc/pipelines")
        #expect(doctor.text.contains("Run this as \(Who.owner.rawValue), the daemon's user"), "\(doctor.text)")
        #expect(!doctor.text.contains("chown"), "\(doctor.text)")
        #expect(try run(.owner, "pause").status == 0)
        try daemon.send(SIGTERM)
        #expect(try daemon.wait() == 0)
        let after = try run(.member, "status")
        #expect(
            after.status == 77 && after.text.contains("only \(Who.owner.rawValue) and root may read the journal"),
            "\(after.text)")
        #expect(try run(.member, "health").text.contains("no daemon is running"))
        for words in [["resume"], ["forget", "one"], ["cancel", "one"], ["retry", "--failed"]] {
            let refused = try run(.member, words)
            #expect(refused.status == 77 && refused.text.contains("run this as"), "\(words): \(refused.text)")
        }
        #expect(try run(.stranger, "status").status == 77)
        #expect(try run(.owner, "status").text.contains("no daemon is running"))
    }

    /// SQLite's lock for writers takes no more than the right to read, and that of the state folder no more.
    @Test func theGroupCanOpenAndLockNothing() async throws {
        // As one had them that let the group read.
        try scratch.makeFolder("state")
        #expect(chown(scratch.path("state").string, uid_t(Who.owner.rawValue), Self.group) == 0)
        #expect(chmod(scratch.path("state").string, 0o2750) == 0)
        var daemon = try start()
        try #require(await eventually { mode("state/control.sock") == 0o660 }, "\(daemon.transcript)")
        try await settleOne()
        #expect(mode("state") == 0o710)
        let files = try Folder.names(in: scratch.path("state")).filter { $0.text != "control.sock" }.map(\.text)
        #expect(Set(files).isSuperset(of: ["journal.sqlite", "journal.sqlite-wal", "journal.sqlite-shm"]))
        for file in files {
            #expect(mode("state/\(file)") == 0o600)
            for words in [["head", "-c", "1"], ["flock", "-n", "-s"]] {
                let said = try run(.member, program: words + ["state/\(file)"] + (words[0] == "flock" ? ["true"] : []))
                #expect(said.status != 0 && said.text.contains("Permission denied"), "\(words) \(file): \(said.text)")
            }
        }
        let folder = try run(.member, program: ["flock", "-n", "-s", "state", "true"])
        #expect(folder.status != 0 && folder.text.contains("Permission denied"), "\(folder.text)")
        #expect(try run(.member, program: ["ls", "state"]).status != 0)
        try daemon.send(SIGTERM)
        #expect(try daemon.wait() == 0)
    }

    @Test func aReloadSaysWhoMayFromThenOn() async throws {
        var daemon = try start()
        try #require(await eventually { mode("state/control.sock") == 0o660 }, "\(daemon.transcript)")
        try set("control_group: \(name)\ncontrol_group_may: change")
        let changed = try run(.owner, "reload")
        #expect(
            changed.status == 0 && changed.text.contains("settings: changed (control_group_may)"), "\(changed.text)")
        let paused = try run(.member, "pause", "--reason", "RIP is down")
        #expect(paused.status == 0, "\(paused.text)")
        #expect(try run(.member, "audit").text.contains("(\(Who.member.rawValue))"))
        #expect(try run(.stranger, "resume").status == 77)
        try set("control_group: nobody-has-this")
        let unknown = try run(.member, "reload")
        #expect(unknown.status == 78 && unknown.text.contains("dropmill.yaml:1:16: error: "), "\(unknown.text)")
        #expect(try run(.member, "resume").status == 0, "nothing has changed")
        // Root's, of which the daemon is no member.
        try set("control_group: root")
        let foreign = try run(.owner, "reload")
        #expect(
            foreign.status == 78 && foreign.text.contains("is no member; add it (usermod -aG root"), "\(foreign.text)")
        #expect(try run(.member, "status").status == 0, "nothing has changed")
        try Folder.remove(scratch.path("etc/dropmill.yaml"))
        #expect(try run(.owner, "reload").text.contains("settings: changed (control_group, control_group_may)"))
        #expect(mode("state") == 0o700 && mode("state/journal.sqlite") == 0o600)
        #expect(mode("state/control.sock") == 0o600)
        #expect(try run(.member, "status").status != 0)
        #expect(try run(.owner, "status").status == 0)
        try daemon.send(SIGTERM)
        #expect(try daemon.wait() == 0)
    }

    @Test func whatAMemberSendsInIsAsTheOwnerWould() async throws {
        try set("control_group: \(name)\ncontrol_group_may: read")
        var daemon = try start()
        try #require(await eventually { mode("state/control.sock") == 0o660 }, "\(daemon.transcript)")
        try await settleOne()
        #expect(try run(.owner, "pause").status == 0)
        let look = try run(.member, "replay", "one", "--dry-run")
        #expect(look.status == 0 && look.text.contains("1 job"), "\(look.text)")
        let refused = try run(.member, "replay", "one")
        #expect(refused.status == 77 && refused.text.contains("may look, not change"), "\(refused.text)")
        try set("control_group: \(name)\ncontrol_group_may: change")
        #expect(try run(.owner, "reload").status == 0)
        for who in [Who.member, .owner] {
            let sent = try run(who, "replay", "one")
            #expect(sent.status == 0, "\(who): \(sent.text)")
        }
        #expect(try run(.stranger, "replay", "one").status == 77)
        let (members, owners) = (
            try #require(FileStatus.of(scratch.path("etc/in/one"))),
            try #require(FileStatus.of(scratch.path("etc/in/one.2")))
        )
        #expect(members.st_uid == owners.st_uid && members.st_uid == uid_t(Who.owner.rawValue))
        #expect(members.st_gid == owners.st_gid && members.st_mode == owners.st_mode)
        #expect(try run(.owner, "audit").text.contains("(\(Who.member.rawValue))"))
        try daemon.send(SIGTERM)
        #expect(try daemon.wait() == 0)
    }

    @Test func aDaemonThatIsNoMemberDoesNotStart() throws {
        var daemon = try start(inGroup: false)
        #expect(try daemon.wait() == 78)
        #expect(daemon.transcript.contains("cannot be given to 'control_group: \(name)'"), "\(daemon.transcript)")
    }
}
