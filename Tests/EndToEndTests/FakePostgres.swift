import Files
import Glibc
import SystemPackage
import TestSupport

/// A server that lets nobody in, on a Unix socket in a test's folder.
final class FakePostgres {
    static let isPossible = Tool.find("python3") != nil

    private let process: pid_t
    /// What libpq takes for its place.
    let place: String

    private static let program = """
        import socketserver, struct, sys
        folder, manner = sys.argv[1:]
        def message(kind, body): return kind + struct.pack("!i", len(body) + 4) + body
        def text(*parts): return b"".join(part.encode() + bytes(1) for part in parts)
        if manner == "password": answer = message(b"R", struct.pack("!i", 3))
        elif manner[0] == "v":
            answer = message(b"R", bytes(4)) + message(b"S", text("server_version", manner[1:])) + message(b"Z", b"I")
        else:
            fields = text("SSCHWERWIEGEND", "VFATAL", "C" + manner, "Mes geht nicht")
            answer = message(b"E", fields + bytes(1))
        class Handler(socketserver.BaseRequestHandler):
            def handle(self):
                self.request.recv(65536)
                self.request.sendall(answer)
                self.request.recv(65536)
        class Server(socketserver.ThreadingUnixStreamServer):
            daemon_threads = True
        Server(folder + "/.s.PGSQL.5432", Handler).serve_forever()
        """

    /// `manner`: `password` is asked for; `v13.12` is its version; or the code of the error that it answers with, in
    /// another language.
    init(_ manner: String, in scratch: ScratchFolder) async throws {
        let folder = try scratch.makeFolder("server-\(manner)")
        let program = try scratch.write(Self.program, to: "server-\(manner)/server.py")
        let log = try OpenFile.open(folder.appending("log"), O_WRONLY | O_CREAT | O_APPEND, mode: 0o600)
        guard let python = Tool.find("python3") else { throw Errno.noSuchFileOrDirectory }
        process = try ChildProcess.spawn(
            python.path, [program.string, folder.string, manner].map { Array($0.utf8) }, output: log.descriptor,
            error: log.descriptor)
        place = "host=\(folder) user=me dbname=x"
        _ = await eventually { FileStatus.of(folder.appending(".s.PGSQL.5432")) != nil }
    }

    deinit {
        kill(process, SIGKILL)
        waitpid(process, nil, 0)
    }
}
