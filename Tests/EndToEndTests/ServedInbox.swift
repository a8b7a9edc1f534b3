import Files
import Glibc
import SystemPackage
import TestSupport
import Testing

/// An inbox that takes files and folders over HTTP: through `dropmill serve`, as another user who has no right in it,
/// to the daemon.
protocol ServedInbox { var scratch: ScratchFolder { get } }

extension ServedInbox {
    static var isRoot: Bool { DaemonUser.possible.count > 1 }
    private static var owner: Int { 41_001 }
    private static var server: Int { 41_002 }
    private static var group: gid_t { 100 }

    /// Makes all that is needed, with these rules in the pipeline `press`.
    func lay(_ rules: String) throws {
        #expect(chmod(scratch.path.string, 0o755) == 0)
        var settings = ""
        if Self.isRoot {
            let name = try #require(getgrgid(Self.group).map { String(cString: $0.pointee.gr_name) })
            settings = "control_group: \(name)\ncontrol_group_may: change\n"
        }
        try scratch.write(settings, to: "etc/dropmill.yaml")
        try scratch.write(
            "inbox: ../in\nprocessed: ../done\nfailed: ../failed\nstages: [checksum]\nupload: true\n"
                + "max_upload: 64MiB\n\(rules)", to: "etc/pipelines/press.yaml")
        try scratch.makeFolder("etc/in")
        try scratch.makeFolder("web")
        guard Self.isRoot else { return }
        for folder in ["etc", "etc/in", "."] { try give(folder, to: Self.owner) }
        #expect(chmod(scratch.path("etc/in").string, 0o700) == 0)
        try give("web", to: Self.server)
    }

    private func give(_ path: String, to user: Int) throws {
        #expect(chown(scratch.path(path).string, uid_t(user), gid_t(user)) == 0)
    }

    /// A file of the inbox is the daemon's own.
    func giveToOwner(_ path: String) throws { if Self.isRoot { try give(path, to: Self.owner) } }

    private func wrapper(_ user: Int) -> [String] {
        guard Self.isRoot else { return [] }
        return ["/usr/bin/setpriv", "--reuid=\(user)", "--regid=\(user)", "--groups=\(Self.group)"]
    }

    func startDaemon() async throws -> DropmillProcess {
        let daemon = try DropmillProcess(
            ["run", scratch.path("etc/pipelines").string, "--state-dir", scratch.path("state").string],
            in: scratch.path, log: scratch.path("log"), wrapper: wrapper(Self.owner))
        try #require(await eventually { scratch.exists("state/control.sock") }, "\(daemon.transcript)")
        return daemon
    }

    var socket: FilePath { scratch.path("web/web.sock") }

    func startServer() async throws -> DropmillProcess {
        let server = try DropmillProcess(
            ["serve", "--listen", socket.string, "--state-dir", scratch.path("state").string], in: scratch.path,
            log: scratch.path("serve.log"), wrapper: wrapper(Self.server))
        try #require(
            await eventually {
                do throws(IOError) { _ = try RawExchange(socket) } catch { return false }
                return true
            }, "\(server.transcript)")
        return server
    }

    static func head(_ path: String, size: Int?, _ more: [String] = [], as method: String = "PUT") -> [UInt8] {
        let lines =
            ["\(method) /api/v1/\(path) HTTP/1.1", "Host: localhost", "Origin: http://localhost"] + more
            + (size.map { ["Content-Length: \($0)"] } ?? [])
        return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    }

    /// The answer to one request.
    func ask(
        _ path: String, _ body: [UInt8] = [], size: Int? = nil, _ more: [String] = [], as method: String = "PUT"
    ) throws -> String {
        let exchange = try RawExchange(socket)
        exchange.send(
            Self.head(path, size: size ?? body.count, more + ["Connection: close"], as: method) + body)
        return exchange.receive()
    }

    func put(_ path: String, _ body: [UInt8], size: Int? = nil, _ more: [String] = []) throws -> String {
        try ask("pipelines/press/drops/\(path)", body, size: size, more)
    }

    /// What is in the inbox, hidden ones included.
    func inbox() throws -> [String] { try Folder.names(in: scratch.path("etc/in")).map(\.text).sorted() }
}
