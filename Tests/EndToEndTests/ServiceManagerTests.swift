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
            socket = Self.makeSocket()
            let bound = Self.withAddress(of: name) { bind(socket, $0, $1) }
            try #require(bound == 0)
        }

        private static func makeSocket() -> Int32 {
            Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        }

        private static func withAddress<Result>(
            of name: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
        ) -> Result {
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            var bytes = Array(name.utf8)
            if bytes.first == UInt8(ascii: "@") { bytes[0] = 0 }
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
            let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
            return withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
            }
        }

        /// Has it hold all that it has room for.
        func fill() {
            let other = Self.makeSocket()
            defer { close(other) }
            while Self.withAddress(of: name, { sendto(other, "x", 1, 0, $0, $1) }) == 1 {}
        }

        /// What was said of the daemon's way from start to stop.
        var steps: [String] {
            _ = hasHeard("")
            let words = told.map { String($0.prefix { $0 != "=" }) }
            return words.filter { ["READY", "RELOADING", "STOPPING"].contains($0) }
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

    private func start(_ socket: String, _ variables: [String] = []) throws -> DropmillProcess {
        try DropmillProcess(
            ["run"], in: scratch.path, log: scratch.path("log"),
            wrapper: ["/usr/bin/env", "NOTIFY_SOCKET=\(socket)"] + variables)
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

    @Test func aManagerThatReadsNothingIsOneWarningAndHoldsNothingUp() async throws {
        let manager = try Manager(scratch.path("notify").string)
        manager.fill()
        var daemon = try start(manager.name)
        try scratch.write("x", to: "pipelines/in/one")
        #expect(await eventually { scratch.exists("pipelines/done/one") })
        try daemon.send(SIGHUP)
        #expect(try await eventually { try daemon.hasLogged("warning", "cannot tell the service manager how it is") })
        try daemon.send(SIGTERM)
        #expect(try await eventually(within: .seconds(4)) { try daemon.hasEnded() }, "it was waited for once")
        #expect(try daemon.wait() == 0)
        let lines = daemon.transcript.split(separator: "\n")
        #expect(lines.count { $0.contains("cannot tell the service manager") } == 1)
    }

    @Test func aManagerThatReadsLateLearnsHowThingsStand() async throws {
        let manager = try Manager(scratch.path("notify").string)
        manager.fill()
        var daemon = try start(manager.name)
        try scratch.write("x", to: "pipelines/in/one")
        #expect(await eventually { scratch.exists("pipelines/done/one") })
        #expect(try await eventually { try daemon.hasLogged("warning", "cannot tell the service manager how it is") })
        #expect(
            await eventually { manager.hasHeard("READY=1") && manager.hasHeard("STATUS=1 pipeline: 0 jobs at work") })
        try daemon.send(SIGTERM)
        #expect(try daemon.wait() == 0)
        #expect(manager.steps == ["READY", "STOPPING"])
    }

    /// Where reloads are asked for during the start and during the stop.
    @Test func readyAndReloadingAreSaidInTurn() async throws {
        for pause in [0, 2, 10] {
            let manager = try Manager(scratch.path("notify-\(pause)").string)
            var daemon = try start(manager.name)
            #expect(await eventually { manager.hasHeard("EXTEND_TIMEOUT_USEC=") }, "\(daemon.transcript)")
            for _ in 1...20 {
                try daemon.send(SIGHUP)
                // The moments are what is tested; whatever they meet, the outcome is the same.
                poll(nil, 0, Int32(pause))
            }
            #expect(try await eventually { try daemon.hasLogged("reloaded") })
            #expect(await eventually { manager.steps.last == "READY" })
            try daemon.send(SIGHUP)
            try daemon.send(SIGTERM)
            #expect(try daemon.wait() == 0)
            let steps = manager.steps
            #expect(steps.first == "READY" && steps.last == "STOPPING", "\(steps)")
            let isInTurn = zip(steps, steps.dropFirst()).allSatisfy { $0 != $1 }
            #expect(isInTurn && steps.count { $0 == "STOPPING" } == 1, "\(steps)")
        }
    }

    /// Stages, helpers and other programs of the daemon are not to speak for it.
    @Test func itsProgramsAreToldNothingOfTheManager() async throws {
        let manager = try Manager(scratch.path("notify").string)
        try write("[{ run: { command: [sh, -c, 'env > $0', '\(scratch.path("env").string)'] } }]")
        var daemon = try start(manager.name, ["WATCHDOG_USEC=60000000"])
        try scratch.write("x", to: "pipelines/in/one")
        #expect(await eventually { scratch.exists("pipelines/done/one") }, "\(daemon.transcript)")
        let variables = try scratch.text("env")
        #expect(variables.contains("PATH=") && !variables.contains("WATCHDOG") && !variables.contains("NOTIFY"))
        try daemon.end()
    }

    @Test func isToldThatItIsAliveWhileItIs() async throws {
        let manager = try Manager(scratch.path("notify").string)
        var daemon = try start(manager.name, ["WATCHDOG_USEC=200000"])
        #expect(await eventually { manager.hasHeard("READY=1") }, "\(daemon.transcript)")
        #expect(await eventually { manager.hasHeard("WATCHDOG=1") && manager.told.count { $0 == "WATCHDOG=1" } > 5 })
        // A stopped process answers nothing.
        try daemon.send(SIGSTOP)
        #expect(await eventually { ProcessList.text("\(daemon.id)/stat")?.contains(") T ") == true })
        _ = manager.hasHeard("")
        let heard = manager.told.count
        try daemon.send(SIGCONT)
        #expect(await eventually { manager.hasHeard("WATCHDOG=1") && manager.told.count > heard })
        try daemon.send(SIGTERM)
        #expect(try daemon.wait() == 0)
    }

    /// Neither one that is not meant nor a strange number.
    @Test(arguments: ["WATCHDOG_PID=1", "WATCHDOG_USEC=0"]) func isNotToldWhatItDidNotAskFor(variable: String)
        async throws
    {
        let manager = try Manager(scratch.path("notify").string)
        var daemon = try start(manager.name, ["WATCHDOG_USEC=200000", variable])
        #expect(await eventually { manager.hasHeard("STATUS=") }, "\(daemon.transcript)")
        try daemon.send(SIGTERM)
        #expect(try daemon.wait() == 0)
        #expect(!manager.hasHeard("WATCHDOG"))
    }

    #if DEBUG
        @Test func isNotToldWhileTheEnginesQueueIsBlocked() async throws {
            let manager = try Manager(scratch.path("notify").string)
            let file = scratch.path("block").string
            var daemon = try start(manager.name, ["WATCHDOG_USEC=200000", "DROPMILL_TEST_BLOCKED=\(file)"])
            #expect(await eventually { manager.hasHeard("WATCHDOG=1") }, "\(daemon.transcript)")
            try scratch.write("", to: "block")
            #expect(try await eventually { try daemon.hasLogged("warning", "the engine's queue has not answered for") })
            // On a busy machine an answer may have been late before, too: it is silent from some moment on.
            let isSilent = await eventually {
                _ = manager.hasHeard("")
                let heard = manager.told.count
                return await !eventually(within: .milliseconds(500)) {
                    _ = manager.hasHeard("")
                    return manager.told.count > heard
                }
            }
            #expect(isSilent, "\(manager.told.suffix(3))")
            try daemon.end()
        }
    #endif
}
