import Files
import Glibc
import SystemPackage
import TestSupport
import Testing

/// A web server on loopback that does what a path says: `/status/503`, `/status/503?after=5` (or `?until=5`, as a
/// date), `/drop`, `/slow`; it keeps what it was sent.
final class WebServer {
    private let process: pid_t
    private let scratch: ScratchFolder
    private(set) var port = 0

    static let isPossible = Tool.find("python3") != nil && Tool.find("openssl") != nil

    private static let program = """
        import email.utils, http.server, json, socket, ssl, sys, threading, time
        folder, secure = sys.argv[1], sys.argv[2] == "tls"
        gate = threading.Event()
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            def handle_any(self):
                try: self.handle_one()
                except ConnectionError: self.close_connection = True
            def handle_one(self):
                if self.path.startswith("/slow"):
                    gate.wait(600)
                if self.path.startswith("/early"):
                    self.send_response(200)
                    self.send_header("Content-Length", "0")
                    self.send_header("Connection", "close")
                    self.end_headers()
                    self.rfile.read(4096)
                    self.close_connection = True
                    return
                if self.path.startswith("/drop"):
                    self.rfile.read(1)
                    self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\\1\\0\\0\\0\\0\\0\\0\\0")
                    self.close_connection = True
                    self.connection.close()
                    return
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                if self.path.startswith("/garbage"):
                    garbage = [
                        b"\\0\\1\\2\\3" * 20, b"220 smtp.example.org ESMTP\\r\\n", b"HTTP/1.1 099 what\\r\\n\\r\\n",
                        b"HTTP/1.1 999 x\\r\\nContent-Length: 0\\r\\n\\r\\n", b""]
                    self.wfile.write(garbage[int(self.path[-1])])
                    self.close_connection = True
                    return
                with open(folder + "/body", "wb") as file: file.write(body)
                with open(folder + "/head", "w") as file:
                    file.write(self.command + " " + self.path + "\\n" + str(self.headers))
                status = int(self.path.partition("?")[0].rsplit("/", 1)[1]) if self.path.startswith("/status/") else 201
                text = b"told: " + str(status).encode()
                if self.path.startswith("/echo"):
                    status = 404
                    text = b"nothing at " + self.path.encode() + b" for " + str(self.headers["Authorization"]).encode()
                if self.path.startswith("/endless"):
                    self.send_response(200)
                    self.end_headers()
                    while True: self.wfile.write(b"x" * 65536)
                if self.path.startswith("/drip"):
                    self.send_response(200)
                    self.end_headers()
                    while not gate.wait(0.2): self.wfile.write(b"x")
                self.send_response(status)
                query = self.path.partition("?")[2]
                if query.startswith("to="): self.send_header("Location", query[3:])
                if query.startswith("after="): self.send_header("Retry-After", query[6:])
                if query.startswith("until="):
                    date = email.utils.formatdate(time.time() + int(query[6:]), usegmt=True)
                    self.send_header("Retry-After", date)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)
            do_PUT = do_POST = handle_any
            def log_message(self, *arguments): pass
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        if secure:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(folder + "/cert.pem", folder + "/key.pem")
            server.socket = context.wrap_socket(server.socket, server_side=True)
        with open(folder + "/port.new", "w") as file: file.write(str(server.server_address[1]))
        import os
        os.rename(folder + "/port.new", folder + "/port")
        server.serve_forever()
        """

    init(_ scratch: ScratchFolder, secure: Bool = false) async throws {
        self.scratch = scratch
        try scratch.makeFolder("web")
        try scratch.write(Self.program, to: "server.py")
        if secure {
            let openssl = try #require(Tool.find("openssl"))
            let output = try openssl.run([
                "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
                "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", scratch.path("web/key.pem").string, "-out",
                scratch.path("web/cert.pem").string,
            ])
            try #require(output.status == 0, "\(output.text)")
        }
        let null = open("/dev/null", O_WRONLY)
        defer { close(null) }
        let arguments = [scratch.path("server.py").string, scratch.path("web").string, secure ? "tls" : "plain"]
        process = try ChildProcess.spawn(
            try #require(Tool.find("python3")).path, arguments.map { Array($0.utf8) }, output: null, error: null)
        try #require(await eventually { scratch.exists("web/port") })
        port = try #require(Int(try scratch.text("web/port")))
    }

    deinit {
        kill(process, SIGKILL)
        do throws(IOError) { _ = try ChildProcess.wait(for: process, of: "python3") } catch {
            // It is gone either way.
        }
    }

    /// What was sent last.
    var body: String { get throws { try scratch.text("web/body") } }
    /// Its first line and header.
    var head: String { get throws { try scratch.text("web/head") } }
}
