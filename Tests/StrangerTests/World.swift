import Files
import Glibc
import SystemPackage
import TestSupport
import Testing

/// Whom the daemon runs as.
enum DaemonUser: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case root, service

    /// Its numbers; no account has to exist.
    var user: uid_t { self == .root ? 0 : 64001 }
    var group: gid_t { self == .root ? 0 : 64001 }
    var testDescription: String { "the daemon is \(rawValue)" }
}

/// Whoever may write to the inbox.
enum Sender: uid_t, Sendable {
    case stranger = 64002
    case honest = 64003
    /// For what a restored backup may bring, and no sender could make.
    case root = 0

    /// The group that the inbox belongs to.
    static let group: gid_t = 64010
}

/// A mill in a folder of its own, with an inbox that strangers may write to, and canaries that nobody but their owner
/// may touch or read.
///
/// `mill` belongs to the daemon's user; in it are `inbox`, `processed`, `failed` and `output`, the strangers' `home`,
/// and the canaries. What a test drops is made in `home` and renamed, so that it is whole at once.
final class World: Sendable {
    /// What the mill lies on.
    enum Disk: String, CaseIterable, Sendable, CustomTestStringConvertible {
        case scratch, tmpfs, xfs
        var testDescription: String { rawValue }
    }

    /// Whether this process may be other users, and these reach the programs.
    static let isPossible: Bool = {
        guard geteuid() == 0 else { return false }
        var folder = DropmillProcess.binary.removingLastComponent()
        while folder != "/" {
            var status = stat()
            guard folder.withPlatformString({ stat($0, &status) }) == 0, status.st_mode & 0o001 != 0 else {
                return false
            }
            folder.removeLastComponent()
        }
        return true
    }()

    /// Why these tests are skipped where they cannot run.
    static let skip = "needs root, and a checkout that every user may enter"

    let daemonUser: DaemonUser
    let scratch: ScratchFolder
    /// The folder that all of it is in.
    let root: FilePath
    /// What must stay as it is: one folder of root's, one of the daemon's user.
    let canaries: [Canary]
    private let disk: any Sendable

    init(_ user: DaemonUser, on disk: Disk = .scratch) throws {
        daemonUser = user
        scratch = try ScratchFolder()
        root = scratch.path("mill")
        switch disk {
        case .scratch: self.disk = try scratch.makeFolder("mill")
        case .tmpfs: self.disk = try TemporaryMount(tmpfs: "size=64m,mode=755", at: root)
        case .xfs: self.disk = try DiskImage(xfs: root)
        }
        try Self.own(scratch.path, 0, 0, 0o755)
        try Self.own(root, user.user, user.group, 0o755)
        for name in ["pipelines", "processed", "failed", "output"] {
            try Folder.make(root.appending(name))
            try Self.own(root.appending(name), user.user, user.group, 0o755)
        }
        for name in ["inbox", "home"] { try Folder.make(root.appending(name)) }
        try Self.own(root.appending("inbox"), user.user, Sender.group, 0o2775)
        try Self.own(root.appending("home"), Sender.stranger.rawValue, Sender.group, 0o2775)
        canaries = [
            try Canary(root.appending("of-root"), 0, 0),
            try Canary(root.appending("of-daemon"), user.user, user.group),
        ]
    }

    /// A path in the mill.
    func path(_ relative: String) -> FilePath { root.pushing(FilePath(relative)) }

    /// Whether there is anything of that name.
    func exists(_ relative: String) -> Bool { Folder.kind(of: path(relative)) != nil }

    /// A file's text.
    func text(_ relative: String) throws -> String {
        String(decoding: try ScratchFolder.read(path(relative)), as: UTF8.self)
    }

    /// The names in a folder of the mill.
    func names(_ relative: String) throws -> [String] { try Folder.names(in: path(relative)).map(\.text).sorted() }

    /// What stat(2) says of a file or link.
    func status(_ relative: String) throws -> stat { try Self.status(of: path(relative)) }

    static func status(of path: FilePath) throws -> stat {
        var status = stat()
        guard path.withPlatformString({ lstat($0, &status) }) == 0 else { throw IOError("examine", path, .last) }
        return status
    }

    static func own(_ path: FilePath, _ user: uid_t, _ group: gid_t, _ mode: mode_t) throws {
        guard path.withPlatformString({ lchown($0, user, group) }) == 0,
            path.withPlatformString({ chmod($0, mode) }) == 0
        else { throw IOError("give away", path, .last) }
    }

    deinit {
        // Deep trees are removed sooner by rm(1); what is mounted has to go before the folder that it is mounted on.
        do throws(IOError) { _ = try Tool("/bin/rm").run(["-rf", "--one-file-system", root.string]) } catch {}
        if !(disk is FilePath) { _ = root.withPlatformString { umount2($0, Int32(MNT_DETACH)) } }
    }

    // MARK: The pipeline

    /// Writes a pipeline file: further lines, the stages among them. Relative paths start from `pipelines`.
    func pipeline(_ lines: String, ready: String = "quiet: 20ms", name: String = "main", inbox: String = "inbox") throws
    {
        let text = """
            name: \(name)
            inbox: ../\(inbox)
            processed: ../processed
            failed: ../failed
            min_free: 0
            ready: { \(ready) }
            \(lines)

            """
        // One key given twice is an error: what a test says counts.
        let keys = Set(
            lines.split(separator: "\n").filter { !$0.hasPrefix(" ") }.compactMap { $0.split(separator: ":").first })
        let kept = text.split(separator: "\n").enumerated().filter { index, line in
            index >= 6 || !keys.contains(line.split(separator: ":").first ?? "")
        }
        try scratch.write(Array(kept.map { $0.element + "\n" }.joined().utf8), to: path("pipelines/\(name).yaml"))
    }

    // MARK: Programs

    /// The words that start a program as the daemon's user, who is in the senders' group. Where it crashes, that is to
    /// be seen at once.
    var wrapper: [String] {
        let user = ["\(daemonUser.user)", "\(daemonUser == .root ? 0 : Sender.group)"]
        return [Stranger.program.string] + user + ["exec", "/usr/bin/env", "SWIFT_BACKTRACE=enable=no"]
    }

    /// Starts the daemon, as its user.
    func start(_ arguments: [String] = ["run"], log: String = "log", wrapper more: [String] = []) throws
        -> DropmillProcess
    {
        let options = arguments.first == "run" ? ["--log-format", "json"] : []
        return try DropmillProcess(
            arguments + [path("pipelines").string, "--state", path("state").string] + options, in: root,
            log: scratch.path(log), wrapper: wrapper + more)
    }

    /// Starts it and waits until it watches.
    func startWatching(wrapper more: [String] = []) async throws -> DropmillProcess {
        var daemon = try start(wrapper: more)
        _ = try await eventually { try daemon.hasLogged("started") || daemon.hasEnded() }
        return daemon
    }

    /// Runs another verb, as the daemon's user, to its end. `paths`: whether it takes the pipelines.
    func run(_ words: [String], paths: Bool = false) throws -> Tool.Output {
        let all = wrapper + [DropmillProcess.binary.string] + words + (paths ? [path("pipelines").string] : [])
        return try Tool(FilePath(all[0])).run(Array(all.dropFirst()), in: root)
    }

    /// A program of the stranger's.
    func stranger(_ words: [String], as sender: Sender = .stranger) throws -> Stranger {
        try Stranger(words, as: sender, log: scratch.path("stranger"))
    }

    // MARK: Dropping

    /// Makes a file of a sender's in `home`.
    @discardableResult
    func prepare(_ name: String, _ content: String, mode: mode_t = 0o664, as sender: Sender = .stranger) throws
        -> FilePath
    {
        let file = path("home").appending(name)
        try scratch.write(Array(content.utf8), to: file)
        try Self.own(file, sender.rawValue, Sender.group, mode)
        return file
    }

    /// Puts what lies in `home` into the inbox.
    func handIn(_ name: String, inbox: String = "inbox", under other: String? = nil) throws {
        let (from, to) = (path("home").appending(name), path(inbox).pushing(FilePath(other ?? name)))
        guard from.withPlatformString({ from in to.withPlatformString { Glibc.rename(from, $0) } }) == 0 else {
            throw IOError("drop", to, .last)
        }
    }

    /// Drops a whole file.
    func drop(
        _ name: String, _ content: String, mode: mode_t = 0o664, as sender: Sender = .stranger, inbox: String = "inbox"
    ) throws {
        try prepare(name, content, mode: mode, as: sender)
        try handIn(name, inbox: inbox)
    }

    /// Makes a folder of a sender's in `home`, of these files.
    func prepareFolder(_ name: String, _ files: [String: String], as sender: Sender = .stranger) throws {
        let top = path("home").appending(name)
        try Folder.make(top)
        try Self.own(top, sender.rawValue, Sender.group, 0o2775)
        for (file, content) in files { try prepare("\(name)/\(file)", content, as: sender) }
    }

    /// Drops a folder of these files.
    func dropFolder(
        _ name: String, _ files: [String: String] = ["file": "content"], as sender: Sender = .stranger,
        inbox: String = "inbox"
    ) throws {
        try prepareFolder(name, files, as: sender)
        try handIn(name, inbox: inbox)
    }
}
