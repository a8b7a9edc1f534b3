import Files
import Glibc
import SystemPackage
import TestSupport
import Testing

/// A clamd that knows one thing: what holds EICAR's text is infected. It notes each command that it was given.
final class FakeClamd {
    /// What it does.
    enum Manner: String {
        /// As clamd does.
        case usual
        /// Cannot take open files, as clamd behind something that forwards bytes.
        case streamsOnly
        /// Never answers.
        case silent
        /// Calls what is larger than 3 MB clean without a look, as clamd does by default.
        case shortSighted
        /// Says so (AlertExceedsMax).
        case frank
        /// Has no signatures.
        case blind
    }

    private let process: pid_t
    private let scratch: ScratchFolder

    static let isPossible = Tool.find("python3") != nil

    private static let program = """
        import array, os, socket, sys, threading
        folder, manner = sys.argv[1:3]
        log = open(folder + "/commands", "a", buffering=1)
        def exact(connection, count):
            data = b""
            while len(data) < count:
                more = connection.recv(count - len(data))
                if not more: raise EOFError
                data += more
            return data
        def verdict(data, limit):
            if manner in ("shortSighted", "frank") and len(data) > 3000000:
                return b"OK" if manner == "shortSighted" else b"Heuristics.Limits.Exceeded.MaxFileSize FOUND"
            if b"EICAR-STANDARD" in data and manner != "blind": return b"Test.EICAR FOUND"
            return b"OK" if len(data) <= limit else b"INSTREAM size limit exceeded. ERROR"
        def serve(connection):
            command = b""
            while not command.endswith(b"\\0"): command += exact(connection, 1)
            log.write(command[1:-1].decode() + "\\n")
            if command == b"zVERSION\\0": return connection.sendall(b"ClamAV 1.0.7\\0")
            if manner == "silent": threading.Event().wait(600)
            if command == b"zFILDES\\0":
                size = array.array("i").itemsize
                _, extra, _, _ = connection.recvmsg(1, socket.CMSG_LEN(size))
                if manner == "streamsOnly" or not extra:
                    return connection.sendall(b"No file descriptor received. ERROR\\0")
                descriptor = array.array("i", extra[0][2][:size])[0]
                with os.fdopen(descriptor, "rb") as file: data = file.read()
                return connection.sendall(b"fd[%d]: " % descriptor + verdict(data, 1 << 40) + b"\\0")
            data = b""
            while size := int.from_bytes(exact(connection, 4), "big"):
                data += exact(connection, size)
            connection.sendall(b"stream: " + verdict(data, 1 << 20) + b"\\0")
        def attend(connection):
            with connection:
                try: serve(connection)
                except (EOFError, ConnectionError): pass
        def listen(server):
            while True: threading.Thread(target=attend, args=(server.accept()[0],), daemon=True).start()
        remote = socket.create_server(("127.0.0.1", 0))
        local = socket.socket(socket.AF_UNIX)
        with open(folder + "/port", "w") as file: file.write(str(remote.getsockname()[1]))
        local.bind(folder + "/clamd.new")
        local.listen(64)
        threading.Thread(target=listen, args=(remote,), daemon=True).start()
        os.rename(folder + "/clamd.new", folder + "/clamd.ctl")
        listen(local)
        """

    /// Listens at `clamd/clamd.ctl` in the folder, and on a port of loopback.
    init(_ scratch: ScratchFolder, _ manner: Manner = .usual) async throws {
        self.scratch = scratch
        let folder = try scratch.makeFolder("clamd")
        try scratch.write(Self.program, to: "clamd.py")
        let null = open("/dev/null", O_WRONLY)
        defer { close(null) }
        let arguments = [scratch.path("clamd.py").string, folder.string, manner.rawValue]
        process = try ChildProcess.spawn(
            try #require(Tool.find("python3")).path, arguments.map { Array($0.utf8) }, output: null, error: null)
        try #require(await eventually(within: .seconds(60)) { scratch.exists("clamd/clamd.ctl") })
    }

    deinit {
        kill(process, SIGKILL)
        do throws(IOError) { _ = try ChildProcess.wait(for: process, of: "python3") } catch {
            // It is gone either way.
        }
    }

    /// Its socket's path.
    var socket: String { scratch.path("clamd/clamd.ctl").string }
    /// The same as `HOST:PORT`.
    var port: String { get throws { "127.0.0.1:\(try scratch.text("clamd/port"))" } }
    /// What it was asked, in order.
    var commands: [String] { get throws { try scratch.text("clamd/commands").split(separator: "\n").map(String.init) } }
}
