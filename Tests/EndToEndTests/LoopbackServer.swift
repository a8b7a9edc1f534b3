import Files
import Glibc
import SystemPackage
import TestSupport

/// An sshd of a test's own, on the loopback address, for this user and a key of its own. Ends with the last reference.
final class LoopbackServer: Sendable {
    private static let program = "/usr/sbin/sshd"

    private let folder: FilePath
    private let port: UInt16
    private let process: pid_t

    /// Whether there are the programs for it.
    static var isPossible: Bool {
        [program, "sftp", "scp", "ssh-keygen"].allSatisfy { Tool.find($0) != nil }
    }

    /// Starts one that keeps its files in the folder; nil where it will not start (a locked account, a strange system).
    static func start(in folder: FilePath) async throws -> LoopbackServer? {
        try Folder.make(folder, mode: 0o700)
        // The program wants it, also where no init system makes it.
        if geteuid() == 0 { try Folder.make("/run/sshd", mode: 0o755) }
        let keys = try Tool("/bin/sh").run(
            [
                "-c", "ssh-keygen -q -t ed25519 -N '' -f host && ssh-keygen -q -t ed25519 -N '' -f user",
            ], in: folder)
        guard keys.status == 0, let port = freePort() else { return nil }
        let settings = """
            Port \(port)
            ListenAddress 127.0.0.1
            HostKey \(folder.string)/host
            AuthorizedKeysFile \(folder.string)/user.pub
            PidFile none
            UsePAM no
            StrictModes no
            PasswordAuthentication no
            PermitRootLogin yes
            Subsystem sftp internal-sftp
            """
        let file = try OpenFile.open(folder.pushing("config"), O_WRONLY | O_CREAT, mode: 0o600)
        try file.write(Array(settings.utf8))
        try file.close()
        let log = folder.pushing("log")
        let output = try OpenFile.open(log, O_WRONLY | O_CREAT | O_APPEND, mode: 0o600)
        let process = try ChildProcess.spawn(
            FilePath(program), ["-D", "-e", "-f", "\(folder.string)/config"].map { Array($0.utf8) },
            output: output.descriptor,
            error: output.descriptor)
        let server = LoopbackServer(folder: folder, port: port, process: process)
        let script =
            "for i in 1 2 3 4 5 6 7 8 9 10; do ssh \(server.options) -p \(port) \(server.user) true && exit 0; "
            + "sleep 0.3; done; exit 1"
        let answer = try await onOwnThread {
            // It listens a moment after it was started.
            try Tool("/bin/sh").run(["-c", script])
        }
        return answer.status == 0 ? server : nil
    }

    private init(folder: FilePath, port: UInt16, process: pid_t) {
        self.folder = folder
        self.port = port
        self.process = process
    }

    deinit {
        kill(process, SIGKILL)
        var status: Int32 = 0
        waitpid(process, &status, 0)
    }

    private var options: String {
        "-q -i \(folder.string)/user -oBatchMode=yes -oStrictHostKeyChecking=no -oUserKnownHostsFile=/dev/null"
    }

    private var user: String { "$(id -un)@127.0.0.1" }

    /// A script that sends `$source` to `$target`, about a second long.
    var sftp: String { "echo \"put $source $target\" | sftp \(options) -l 2400 -P \(port) -b - \"\(user)\"" }

    /// The same by scp.
    var scp: String { "scp \(options) -l 2400 -P \(port) \"$source\" \"\(user):$target\"" }

    /// A port that nobody listens on just now.
    private static func freePort() -> UInt16? {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard listener >= 0 else { return nil }
        defer { close(listener) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        return bound ? UInt16(bigEndian: address.sin_port) : nil
    }
}
