import Files
import Glibc
import Synchronization
import SystemPackage
import TestSupport
import Testing

/// What a service manager is told, by a socket in a file system or in the abstract namespace.
@Suite(.timeLimit(.minutes(5))) struct ServiceManagerTests {
    /// A manager's socket, which is read without waiting.
    private final class Manager {
        let name: String
        private let socket: Int32
        private(set) var told: [String] = []

        /// `name`: what NOTIFY_SOCKET says.
        init(_ name: String) throws {
            self.name = name
            socket = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            var bytes = Array(name.utf8)
            if bytes.first == UInt8(ascii: "@") { bytes[0] = 0 }
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
            let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
            let bound = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(socket, $0, length) }
            }
            try #require(bound == 0)
        }

        deinit { close(socket) }

        /// All that was said so far has it.
        func hasHeard(_ text: String) -> Bool {
            var packet = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = recv(socket, &packet, packet.count, 0)
                guard count > 0 else { return told.contains { $0.contains(text) } }
                told.append(String(decoding: packet[..<count], as: UTF8.self))
            }
        }
    }

    private let scratch: ScratchFolder

    init() throws {
        scratch = try ScratchFolder()
        try write("[checksum]")
    }

    private func write(_ stages: String) throws {
        try scratch.write(
            "inbox: in\nprocessed: done\nfailed: failed\nready: { quiet: 50ms }\nstages: \(stages)\n",
            to: "pipelines/a.yaml")
    }

    private func start(_ socket: String) throws -> DropmillProcess {
        try DropmillProcess(
            ["run"], in: scratch.path, log: scratch.path("log"), wrapper: ["/usr/bin/env", "NOTIFY_SOCKET=\(socket)"])
    }

    @Test(arguments: [true, false]) func isToldOfEachStep(isAbstract: Bool) async throws {
        let file = scratch.path("notify").string
        let manager = try Manager(isAbstract ? "@dropmill-test-\(getpid())" : file)
        var daemon = try start(manager.name)
        #expect(await eventually { manager.hasHeard("READY=1") }, "\(daemon.transcript)")
        #expect(manager.told.first?.hasPrefix("EXTEND_TIMEOUT_USEC=") ?? false)
        #expect(await eventually { manager.hasHeard("STATUS=1 pipeline: 0 jobs at work, 0 wait") })
        #expect(!manager.hasHeard("RELOADING=1"))
        try write("[")
        try daemon.send(SIGHUP)
        #expect(await eventually { manager.hasHeard("RELOADING=1\nMONOTONIC_USEC=") })
        #expect(
            await eventually { manager.hasHeard("READY=1") && manager.told.count { $0 == "READY=1" } == 2 },
            "also where the reload is refused")
        try daemon.send(SIGTERM)
        #expect(try daemon.wait() == 0)
        #expect(manager.hasHeard("STOPPING=1") && manager.told.last == "STOPPING=1")
    }

    @Test func aManagerThatIsNotThereIsOneWarning() async throws {
        var daemon = try start(scratch.path("nobody").string)
        try scratch.write("x", to: "pipelines/in/one")
        #expect(await eventually { scratch.exists("pipelines/done/one") })
        #expect(try await eventually { try daemon.hasLogged("warning", "cannot tell the service manager how it is") })
        try daemon.send(SIGTERM)
        #expect(try daemon.wait() == 0)
        let lines = daemon.transcript.split(separator: "\n")
        #expect(lines.count { $0.contains("cannot tell the service manager") } == 1)
    }
}
