import Files
import FoundationEssentials
import Glibc
import SystemPackage
import TestSupport

/// Whom messages are for, on the loopback address: it keeps what it is sent, and answers as a file says.
final class NotifyServer {
    struct Request: Decodable {
        var path: String
        /// By their names in lower case.
        var headers: [String: String]
        var body: String
    }

    /// What it does with a request.
    enum Manner: String {
        case taken = "200", broken = "500", hanging, redirecting, endless
    }

    private let process: pid_t
    private let scratch: ScratchFolder
    let port: Int

    static let isPossible = Tool.find("python3") != nil

    private static let program = """
        import http.server, json, os, sys, threading
        folder = sys.argv[1]
        gate, lock = threading.Event(), threading.Lock()
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                headers = {key.lower(): value for key, value in self.headers.items()}
                line = json.dumps({"path": self.path, "headers": headers, "body": body.decode()})
                with lock, open(folder + "/requests", "a") as file: file.write(line + "\\n")
                manner = open(folder + "/manner").read()
                if manner == "hanging": gate.wait(600)
                self.send_response({"redirecting": 302, "endless": 200, "hanging": 200}.get(manner) or int(manner))
                if manner == "redirecting": self.send_header("Location", self.path)
                said = ("heard with " + headers.get("authorization", "nothing")).encode()
                self.send_header("Content-Length", str(1 << 30 if manner == "endless" else len(said)))
                self.end_headers()
                try:
                    self.wfile.write(said)
                    if manner == "endless":
                        for _ in range(1 << 14): self.wfile.write(bytes(1 << 16))
                except ConnectionError: self.close_connection = True
            def log_message(self, *words): pass
        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
        server = Server(("127.0.0.1", 0), Handler)
        with open(folder + "/port.new", "w") as file: file.write(str(server.server_port))
        os.rename(folder + "/port.new", folder + "/port")
        server.serve_forever()
        """

    init() async throws {
        scratch = try ScratchFolder()
        try scratch.write(Self.program, to: "server.py")
        try scratch.write("", to: "requests")
        try scratch.write(Manner.taken.rawValue, to: "manner")
        let log = try OpenFile.open(scratch.path("log"), O_WRONLY | O_CREAT | O_APPEND, mode: 0o600)
        guard let python = Tool.find("python3") else { throw Errno.noSuchFileOrDirectory }
        process = try ChildProcess.spawn(
            python.path, [scratch.path("server.py").string, scratch.path.string].map { Array($0.utf8) },
            output: log.descriptor, error: log.descriptor)
        let place = scratch.path("port")
        _ = await eventually { FileStatus.of(place) != nil }
        port = Int(String(decoding: (try? ScratchFolder.read(place)) ?? [], as: UTF8.self)) ?? 0
    }

    deinit {
        kill(process, SIGKILL)
        waitpid(process, nil, 0)
    }

    func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

    func answer(_ manner: Manner) throws {
        try scratch.write(manner.rawValue, to: "manner.new")
        rename(scratch.path("manner.new").string, scratch.path("manner").string)
    }

    /// What came, in order.
    var requests: [Request] {
        get throws {
            let lines = try ScratchFolder.read(scratch.path("requests")).split(separator: UInt8(ascii: "\n"))
            return lines.compactMap { try? JSONDecoder().decode(Request.self, from: Data($0)) }
        }
    }
}
