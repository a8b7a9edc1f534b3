import Glibc
import SystemPackage
import TestSupport
import Testing

/// Programs that are run with `confine: true`: what they are for, they do; what else they try, is refused. Each as
/// root, and as a user without rights.
@Suite(.timeLimit(.minutes(5))) struct ConfinedProgramTests {
    private let scratch: ScratchFolder

    init() throws {
        scratch = try ScratchFolder()
        try scratch.makeFolder("inbox")
    }

    private func pipeline(_ run: String) throws {
        try scratch.write(
            """
            inbox: ../inbox
            processed: ../processed
            failed: ../failed
            ready: { quiet: 20ms }
            retry: { attempts: 1 }
            stages:
              - run: \(run)
              - move: { to: ../output }
            """, to: "pipelines/main.yaml")
    }

    /// Starts the daemon, with its process id in `daemon` and a secret in its environment.
    private func start(_ arguments: [String], as user: DaemonUser, on kernel: [String] = []) throws -> DropmillProcess {
        if user == .ordinary {
            let chown = try #require(Tool.find("chown"))
            #expect(try chown.run(["-R", "65534:65534", scratch.path.string]).status == 0)
        }
        let note = ["/bin/sh", "-c", #"echo $$ > "$0" && exec "$@""#, scratch.path("daemon").string]
        return try DropmillProcess(
            ["run"] + arguments, in: scratch.path, log: scratch.path("log"),
            wrapper: user.wrapper + ["/usr/bin/env", "PATH=/usr/bin:/bin", "CANARY=canary-secret"] + note + kernel)
    }

    /// A second of a tone, as WAV.
    static let sound: [UInt8] = {
        func little(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        let samples = (0..<8000).map { UInt8(truncatingIfNeeded: $0 * 13) }
        return Array("RIFF".utf8) + little(36 + samples.count, 4) + Array("WAVEfmt ".utf8) + little(16, 4)
            + little(1, 2) + little(1, 2) + little(8000, 4) + little(8000, 4) + little(1, 2) + little(8, 2)
            + Array("data".utf8) + little(samples.count, 4) + samples
    }()

    static let page = Array(
        "%!PS\n/Courier findfont 20 scalefont setfont 72 72 moveto (Hi) show showpage\n".utf8)
    static let picture = Array("P3 2 2 255 255 0 0 0 255 0 0 0 255 9 9 9\n".utf8)

    static let uses = [
        Work(
            program: "gs", arguments: "-q, -dSAFER, -sDEVICE=pdfwrite, -o, made, \"{file}\"", drop: page,
            begin: Array("%PDF-".utf8)),
        Work(
            program: "convert", arguments: "\"{file}\", \"png:made\"", drop: picture, begin: [0x89, 0x50, 0x4E, 0x47]),
        Work(
            program: "ffmpeg", arguments: "-v, error, -i, \"{file}\", -f, flac, made", drop: sound,
            begin: Array("fLaC".utf8)),
        Work(
            program: "python3",
            arguments: "-c, \"import shutil, subprocess, sys, tempfile, threading; t = tempfile.mkdtemp(); "
                + "shutil.copy2(sys.argv[1], t + '/x'); subprocess.run(['cp', '-p', t + '/x', 'made'], check=True)\", "
                + "\"{file}\"",
            drop: Array("hello".utf8), begin: Array("hello".utf8)),
    ]

    @Test("A program does its work", arguments: uses, DaemonUser.possible)
    func doesItsWork(work: Work, user: DaemonUser) throws {
        guard Tool.find("/usr/bin/\(work.program)") != nil else { return }
        try pipeline("{ command: [/usr/bin/\(work.program), \(work.arguments)], confine: true, output: replace }")
        let drop = try scratch.write(work.drop, to: scratch.path("inbox/drop"))
        // What a sender closed to others is open to the program all the same, whoever the sender is.
        #expect(drop.withPlatformString { chmod($0, 0o600) } == 0)
        if user == .caller, geteuid() == 0 { #expect(drop.withPlatformString { chown($0, 4242, 4242) } == 0) }
        var daemon = try start(["--once"], as: user)
        #expect(try daemon.wait() == 0, "\(daemon.transcript)")
        let made = try scratch.read("output/made")
        #expect(made.starts(with: work.begin))
        var status = stat()
        #expect(scratch.path("output/made").withPlatformString { stat($0, &status) } == 0)
        #expect(status.st_uid == (user == .ordinary ? 65534 : geteuid()))
    }

    /// What a program tries that a bad file has taken over.
    private static let deeds = #"""
        import ctypes, os, resource, socket, sys
        top, daemon = sys.argv[1], int(open(sys.argv[1] + "/daemon").read())
        libc = ctypes.CDLL(None, use_errno=True)
        keeper = os.getppid()
        secret = top + "/secret"
        told = open("told", "w")

        def check(result):
            if result < 0: raise OSError(ctypes.get_errno(), "refused")

        def network():
            server = socket.socket()
            server.bind(("127.0.0.1", 0)); server.listen()
            socket.create_connection(server.getsockname())

        def trace():
            check(libc.ptrace(16, daemon, None, None))
            os.waitpid(daemon, 0x40000000)
            libc.ptrace(17, daemon, None, None)

        def multiply():
            read, write = os.pipe()
            for _ in range(100):
                if os.fork() == 0:
                    os.close(write); os.read(read, 1); os._exit(0)

        def big_file():
            with open("big", "wb") as file: file.truncate(3 << 20)
            os.unlink("big")

        def is_root_for_files():
            lines = open("/proc/self/status").read().split("\n")
            given = [line.split()[1] for line in lines if line.startswith(("CapEff", "CapPrm", "NoNewPrivs"))]
            if given == ["0" * 16, "0" * 16, "1"]: raise PermissionError("none")

        deeds = dict(
            read_secret=lambda: open(secret).read(),
            read_state=lambda: os.listdir(top + "/state"),
            read_other_jobs=lambda: os.listdir(top + "/.dropmill"),
            read_inbox=lambda: os.listdir(top + "/inbox"),
            read_closed_configuration=lambda: open("/etc/shadow").read(),
            write_outside=lambda: open(top + "/outside", "w"),
            write_shared=lambda: open("/tmp/dropmill-outside-%d" % os.getpid(), "w"),
            change_mode=lambda: os.chmod(secret, 0o644),
            change_times=lambda: os.utime(secret, (1, 1)),
            link_in=lambda: os.link(secret, "secret"),
            remove=lambda: os.rename(secret, top + "/moved"),
            network=network,
            local_socket=lambda: socket.socket(socket.AF_UNIX),
            environment=lambda: open("/proc/%d/environ" % daemon).read(),
            memory=lambda: open("/proc/%d/mem" % daemon, "rb+"),
            keepers_environment=lambda: open("/proc/%d/environ" % keeper).read(),
            descriptors=lambda: os.listdir("/proc/%d/fd" % daemon),
            limit_daemon=lambda: resource.prlimit(daemon, resource.RLIMIT_CORE, (0, 0)),
            signal_daemon=lambda: os.kill(daemon, 0),
            signal_keeper=lambda: os.kill(keeper, 0),
            big_file=big_file,
            big_memory=lambda: bytearray(1 << 30),
            rights=is_root_for_files,
            trace=trace,
            multiply=multiply,
        )
        for name, deed in deeds.items():
            try:
                deed()
                print(name, "done", file=told, flush=True)
            except (OSError, MemoryError) as error:
                print(name, "refused", repr(error), file=told, flush=True)
        """#

    private func attempt(_ options: String, as user: DaemonUser) throws -> [String: Bool] {
        try scratch.write(Self.deeds, to: "deeds.py")
        let secret = try scratch.write("secret", to: "secret")
        #expect(secret.withPlatformString { chmod($0, 0o600) } == 0)
        try pipeline(
            "{ command: [/usr/bin/python3, \(scratch.path("deeds.py").string), \(scratch.path.string)], "
                + "output: replace, \(options) }")
        try scratch.write("x", to: "inbox/drop")
        var daemon = try start(["--once", "--state", scratch.path("state").string], as: user)
        #expect(try daemon.wait() == 0, "\(daemon.transcript)")
        let lines = try scratch.text("output/told").split(separator: "\n").map { $0.split(separator: " ") }
        return Dictionary(uniqueKeysWithValues: lines.map { (String($0[0]), $0[1] == "done") })
    }

    /// `read` names what the deeds need to know, and nothing that they are after.
    private var confined: String {
        "confine: true, read: [\(scratch.path("deeds.py").string), \(scratch.path("daemon").string)], "
            + "max_memory: 512MiB, max_file_size: 1MiB, max_processes: 64"
    }

    @Test(
        "A hostile program is refused everything", .enabled(if: Tool.find("/usr/bin/python3") != nil, "needs python3"),
        arguments: DaemonUser.possible)
    func hostile(user: DaemonUser) throws {
        let outcomes = try attempt(confined, as: user)
        #expect(outcomes.count == 25)
        #expect(outcomes.filter(\.value).keys.sorted() == [])
        #expect(!scratch.exists("outside") && !scratch.exists("moved"))
        var status = stat()
        #expect(scratch.path("secret").withPlatformString { stat($0, &status) } == 0)
        #expect(status.st_mode & 0o777 == 0o600 && status.st_mtim.tv_sec > 1)
    }

    @Test(
        "A program that is not confined does them, but cannot look into a daemon of its own user",
        .enabled(if: Tool.find("/usr/bin/python3") != nil, "needs python3"), arguments: DaemonUser.possible)
    func free(user: DaemonUser) throws {
        let outcomes = try attempt("confine: false", as: user)
        let refused = Set(outcomes.filter { !$0.value }.keys)
        let closed: Set = ["environment", "memory", "keepers_environment", "descriptors", "trace"]
        guard user == .ordinary || geteuid() != 0 else { return #expect(refused == []) }
        #expect(refused.subtracting(["rights", "read_closed_configuration"]) == closed)
    }

    @Test("Its network is a matter of its own", arguments: DaemonUser.possible)
    func network(user: DaemonUser) throws {
        let outcomes = try attempt(confined + ", network: true", as: user)
        #expect(outcomes.filter(\.value).keys.sorted() == ["local_socket", "network"])
    }

    /// However many it starts, in its group or out of it, none is left.
    @Test("A fork bomb is bounded, and over with the program", arguments: DaemonUser.possible)
    func bomb(user: DaemonUser) throws {
        let bomb = #"""
            import os
            if os.fork() == 0:
                while True:
                    try:
                        if os.fork() == 0: os.setsid()
                    except OSError: open("full", "w")
            while not os.path.exists("full"): pass
            open("made", "w").write(open("/proc/loadavg").read()); os.unlink("full")
            """#
        try scratch.write(bomb, to: "bomb.py")
        let path = scratch.path("bomb.py").string
        try pipeline(
            "{ command: [/usr/bin/python3, \(path)], output: replace, confine: true, max_processes: 50, "
                + "read: [\(path), /proc/loadavg] }")
        try scratch.write("x", to: "inbox/drop")
        var daemon = try start(["--once"], as: user)
        #expect(try daemon.wait() == 0, "\(daemon.transcript)")
        let all = try #require(
            scratch.text("output/made").split(separator: " ").dropFirst(3).first?.split(separator: "/"))
        #expect(Int(all[1]).map { $0 < 2000 } == true)
        let left = try Tool("/usr/bin/pgrep").run(["-f", path])
        #expect(left.text == "")
    }

    @Test("Where the kernel has no Landlock, nothing is run, and it says what can be done")
    func noLandlock() async throws {
        try pipeline("{ command: [touch, made], output: replace, confine: true }")
        try scratch.write("x", to: "inbox/drop")
        let old = [DropmillProcess.built("oldkernel").string, "landlock"]
        var daemon = try start(["--log-format", "json"], as: .caller, on: old)
        let isPaused = try await eventually { try daemon.hasLogged("paused", "the kernel has no Landlock") }
        #expect(isPaused, "\(daemon.transcript)")
        #expect(try daemon.hasLogged("paused", "confine: false"))
        #expect(try daemon.hasLogged("paused", "run.no-sandbox"))
        #expect(!scratch.exists("output/made") && !scratch.exists("failed/drop"))
        try daemon.end()
    }
}

/// What a program is for: a file in, a file `made` out that begins with these bytes.
struct Work: CustomTestStringConvertible, Sendable {
    let program: String, arguments: String, drop: [UInt8], begin: [UInt8]
    var testDescription: String { program }
}
