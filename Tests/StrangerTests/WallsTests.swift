import Files
import Glibc
import SystemPackage
import TestSupport
import Testing

/// F10, F11 and F12: what runs with our rights, and what it can reach.
@Suite(.timeLimit(.minutes(5)), .enabled(if: World.isPossible, Comment(rawValue: World.skip)))
struct WallsTests {
    private static let secret = "UNRELATED_SECRET"
    /// Of the tests' own environment nothing is to be shown where a test fails.
    private static let environment = ["/usr/bin/env", "-i", "PATH=/usr/bin:/bin", "\(secret)=12345"]

    /// Publishes what a program leaves in its folder.
    private static func stages(_ run: String) -> String {
        "stages: [{ run: { \(run), output: replace } }, { move: { to: \"../output/{stem}\" } }]"
    }

    private func settled(_ daemon: inout DropmillProcess, _ count: Int = 1) async throws -> Bool {
        var process = daemon
        let isSettled = try await eventually { try process.count("processed", "failed") >= count || process.hasEnded() }
        daemon = process
        return isSettled && daemon.status == nil
    }

    @Test(
        "F10: the daemon has no strangers' bytes read by libmagic", arguments: DaemonUser.allCases,
        ["detect", "select: { type: \"text/*\" }"])
    func magic(_ user: DaemonUser, _ stage: String) async throws {
        let world = try World(user)
        try world.pipeline("stages: [{ \(stage.contains(":") ? stage : stage + ": {}") }, { move: { to: ../output } }]")
        try world.drop("drop.txt", "plain text\n")
        var daemon = try await world.startWatching()
        #expect(try await settled(&daemon), "\(daemon.transcript)")
        #expect(world.exists("output/drop.txt"), "\(daemon.transcript)")
        // The database is mapped where it is used.
        let maps = String(decoding: try ScratchFolder.read(FilePath("/proc/\(daemon.id)/maps")), as: UTF8.self)
        let database = maps.split(separator: "\n").first { $0.contains("magic.mgc") }
        #expect(database == nil, "\(database ?? "")")
        #expect(try await daemon.stops())
    }

    @Test("F11: nobody reads the daemon's environment")
    func environment() async throws {
        let world = try World(.service)
        let script = "cat /proc/$(cat $1)/environ > got; cp got copy; true"
        try world.pipeline(Self.stages("command: [sh, -c, '\(script)', sh, \"{file}\"]"))
        var daemon = try await world.startWatching(wrapper: Self.environment)
        try world.drop("drop", "\(daemon.id)\n")
        #expect(try await settled(&daemon), "\(daemon.transcript)")
        let got = try world.text("output/drop/got")
        #expect(!got.contains(Self.secret), "a program of `run` has it")
        // Any other process of that user.
        let cat = try Tool(FilePath(world.wrapper[0])).run(
            Array(world.wrapper.dropFirst()) + ["/bin/cat", "/proc/\(daemon.id)/environ"])
        #expect(!cat.text.contains(Self.secret), "a process of its user has it")
        #expect(try await daemon.stops())
    }

    @Test("F11: what is confined reaches nothing of ours", arguments: DaemonUser.allCases)
    func confined(_ user: DaemonUser) async throws {
        let world = try World(user)
        let listener = try Listener()
        let tries = [
            "cat \(world.path("state").string)/journal.sqlite > journal",
            "cat \(world.canaries[1].folder.string)/shadow > shadow",
            "cat /proc/$(cat $1)/environ > environ",
            "echo x > \(world.path("escaped").string)",
            "echo x > \(world.path("output").string)/escaped",
            "kill -0 $(cat $1) && echo yes > signalled",
            "curl -s -m 5 http://127.0.0.1:\(listener.port)/ && echo yes > sent",
            "python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", \(listener.port)), 5)'",
            "echo yes > own",
        ]
        let script = tries.joined(separator: "; ").replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        try world.pipeline(Self.stages("command: [sh, -c, \"\(script)\", sh, \"{file}\"], \(Rule.confined)"))
        var daemon = try await world.startWatching(wrapper: Self.environment)
        try world.drop("drop", "\(daemon.id)\n")
        #expect(try await settled(&daemon), "\(daemon.transcript)")
        #expect(world.exists("output/drop/own"), "it may write to its own folder: \(daemon.transcript)")
        for name in ["journal", "shadow", "environ"] {
            let size = world.exists("output/drop/\(name)") ? try world.status("output/drop/\(name)").st_size : 0
            #expect(size == 0, "it read the \(name)")
        }
        for name in ["escaped", "output/escaped", "output/drop/signalled", "output/drop/sent"] {
            #expect(!world.exists(name), "\(name)")
        }
        #expect(listener.connections == 0)
        let harm = try world.harm()
        #expect(harm.isEmpty, "\(harm.joined(separator: "\n"))")
        #expect(try await daemon.stops())
    }

    @Test("F12: without Landlock nothing is unpacked, unless somebody says so")
    func sandbox() async throws {
        let world = try World(.root)
        try world.pipeline("stages: [unpack, { move: { to: \"../output/{stem}\" } }]")
        var zip = ZipBuilder()
        zip.add("inner", content: "x")
        try world.scratch.write(zip.finished, to: world.path("home/archive.zip"))
        try world.handIn("archive.zip")
        var daemon = try await world.startWatching(wrapper: [DropmillProcess.built("oldkernel").string, "landlock"])
        let isTold = try await eventually {
            try daemon.hasLogged("paused", "Landlock") || daemon.count("processed", "failed") > 0 || daemon.hasEnded()
        }
        #expect(try isTold && daemon.hasLogged("paused", "require_sandbox: false"), "\(daemon.transcript)")
        #expect(!world.exists("output/archive"))
        #expect(try await daemon.stops())
    }
}

/// A port of this host that somebody may connect to.
final class Listener {
    let port: UInt16
    private let descriptor: Int32

    init() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(descriptor, pointer, length) == 0 && listen(descriptor, 8) == 0
                    && getsockname(descriptor, pointer, &length) == 0
            }
        }
        guard descriptor >= 0, isBound else { throw IOError("listen on", "127.0.0.1", .last) }
        port = UInt16(bigEndian: address.sin_port)
        self.descriptor = descriptor
    }

    /// How many have connected since this was last asked.
    var connections: Int {
        var count = 0
        while case let one = accept(descriptor, nil, nil), one >= 0 {
            count += 1
            close(one)
        }
        return count
    }

    deinit { close(descriptor) }
}
