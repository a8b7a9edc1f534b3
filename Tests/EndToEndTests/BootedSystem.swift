import Files
import Glibc
import SystemPackage
import TestSupport
import Testing

/// A system of its own with a real systemd: booted in a container, from a tree that is made once and never changed.
/// Needs root.
final class BootedSystem {
    static let needs = "needs root, systemd-nspawn, and debootstrap with packages for it"

    /// What it is booted from; nil where there can be none.
    static let tree: FilePath? = {
        guard geteuid() == 0, nspawn != nil, let debootstrap = Tool.find("/usr/sbin/debootstrap") else { return nil }
        let tree = checkout.pushing(".build/systemd-tree")
        let systemd = tree.pushing("usr/bin/systemctl").string
        if Folder.kind(of: tree) == nil {
            let new = tree.string + ".\(getpid())"
            do throws(IOError) {
                let release = String(decoding: try ScratchFolder.read("/etc/os-release"), as: UTF8.self)
                let suite = release.split(separator: "\n").first { $0.hasPrefix("VERSION_CODENAME=") } ?? ""
                let made = try debootstrap.run([
                    "--variant=minbase", "--include=systemd,dbus", String(suite.dropFirst("VERSION_CODENAME=".count)),
                    new,
                ])
                if made.status == 0 { rename(new, tree.string) }
            } catch {
                return nil
            }
        }
        return Tool.find(systemd) == nil ? nil : tree
    }()

    private static let nspawn = Tool.find("systemd-nspawn")
    static let checkout = FilePath(#filePath).removingLastComponent().removingLastComponent().removingLastComponent()

    private let name = "dropmill-\(getpid())-\(UInt32.random(in: 0 ... .max))"
    private let container: pid_t
    /// Its first process.
    private var first: pid_t = 0

    /// Boots one with the program in it, and the folder `scratch` as `/srv`.
    init(_ scratch: ScratchFolder) async throws {
        let tree = try #require(Self.tree)
        let nspawn = try #require(Self.nspawn)
        let shown =
            try Self.libraries().map { ($0, "/usr/local/lib/" + ($0.lastComponent?.string ?? "")) }
            + [(DropmillProcess.binary, "/usr/bin/dropmill")]
        try scratch.makeFolder("srv")
        let log = try OpenFile.open(scratch.path("console"), O_WRONLY | O_CREAT | O_APPEND, mode: 0o644)
        container = try ChildProcess.spawn(
            nspawn.path,
            ([
                "--directory=\(tree.string)", "--volatile=overlay", "--boot", "--register=no", "--keep-unit",
                "--console=pipe", "--machine=\(name)",
                // What confines our helpers is denied in containers otherwise.
                "--system-call-filter=landlock_create_ruleset landlock_add_rule landlock_restrict_self",
                "--bind=\(scratch.path("srv").string):/srv",
            ] + shown.map { "--bind-ro=\($0.0.string):\($0.1)" }).map { Array($0.utf8) },
            output: log.descriptor, error: log.descriptor)
        let isUp = try await eventually {
            // Its first child is another one for a moment.
            first = try Self.child(of: container) ?? 0
            return try first != 0 && ["running\n", "degraded\n"].contains(run("systemctl is-system-running").text)
        }
        let console = try scratch.text("console")
        try #require(isUp, "\(console.suffix(2000))")
        let hasLibraries = try run("ldconfig").status == 0
        try #require(hasLibraries)
    }

    deinit {
        if first != 0 { kill(first, SIGKILL) }
        // What is left in it dies with it.
        kill(container, SIGKILL)
        waitpid(container, nil, 0)
        rmdir("/run/systemd/nspawn/propagate/\(name)")
    }

    /// Runs a command of the shell in it.
    @discardableResult
    func run(_ command: String) throws -> Tool.Output {
        let nsenter = try #require(Tool.find("nsenter"))
        return try nsenter.run(["-t", "\(first)", "-a", "/bin/sh", "-c", command])
    }

    /// What the daemon's journal says, with more words for journalctl(1).
    func journal(_ words: String = "") throws -> String {
        try run("journalctl --no-pager --output=cat --unit=dropmill \(words)").text
    }

    /// How the daemon is and was, for messages.
    var transcript: String {
        do { return try run("systemctl status --no-pager --lines=40 --full dropmill").text } catch { return "\(error)" }
    }

    /// Writes a file in it.
    func write(_ text: String, to path: String) throws {
        let command = "mkdir -p $(dirname \(path)) && cat > \(path) <<'END'\n\(text)\nEND"
        let written = try run(command)
        try #require(written.status == 0, "\(written.text)")
    }

    /// The libraries that the program needs, also for archives, but for the C library, which is the same there.
    private static func libraries() throws -> Set<FilePath> {
        let (ldd, ldconfig) = (try #require(Tool.find("ldd")), try #require(Tool.find("/usr/sbin/ldconfig")))
        // `NAME … => PATH …`
        func paths(_ text: String, _ isMeant: (Substring) -> Bool) -> [FilePath] {
            text.split(separator: "\n").compactMap { line in
                let words = line.split { $0.isWhitespace }
                guard let arrow = words.firstIndex(of: "=>"), arrow + 1 < words.count, isMeant(words[0]) else {
                    return nil
                }
                return FilePath(String(words[arrow + 1]))
            }
        }
        let loaded = try paths(ldconfig.run(["-p"]).text) { $0.hasPrefix("libarchive.so.") }.prefix(1)
        let needed = try ([DropmillProcess.binary] + loaded).flatMap { file in
            try paths(ldd.run([file.string]).text) { !$0.hasPrefix("libc.so") && !$0.hasPrefix("libm.so") }
        }
        return Set(needed + loaded)
    }

    private static func child(of parent: pid_t) throws -> pid_t? {
        ProcessList.text("\(parent)/task/\(parent)/children")?.split(separator: " ").first.flatMap { pid_t($0) }
    }
}
