import Archive
import Files
import Glibc
import PipelineKit
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import BuiltinStages

/// The process that unpacks: what it may do, and what becomes of it when it does not end well.
@Suite struct UnpackHelperTests: UnpackHelperTesting {
    let scratch: ScratchFolder
    let folder: FilePath

    init() throws {
        scratch = try ScratchFolder()
        folder = try scratch.makeFolder("out")
    }

    @Test func itUnpacks() throws {
        let entries = Atomic<Int64>(0)
        let report = try unpack(
            real, zip(),
            monitor: UnpackMonitor(report: { @Sendable in _ = entries.wrappingAdd($1, ordering: .relaxed) }))
        #expect(report.entries == 3 && report.bytes == 6000 && report.integrity == .verified)
        #expect(entries.load(ordering: .relaxed) == 3)
        #expect(try scratch.tree("out").count == 4)
    }

    /// Blocks of an .xz are decompressed side by side, by threads that have as few rights as the first.
    @Test(
        .enabled(if: Tool.find("xz") != nil, Comment(rawValue: Tool.skip("xz"))), arguments: [1, 2, 8])
    func blocksOfAnXZ(workers: Int) throws {
        var generator = SeededGenerator(seed: 3)
        let content = (0..<(4 << 20)).map { _ in UInt8.random(in: 0..<100, using: &generator) }
        var tar = TarBuilder()
        tar.add(Array("a".utf8), content: content)
        try scratch.write(tar.finished, to: scratch.path("archive.tar"))
        let made = try Tool("/bin/sh").run(["-ec", "xz -0 --block-size=400KiB archive.tar"], in: scratch.path)
        try #require(made.status == 0, "\(made.text)")
        #expect(try unpack(real, scratch.path("archive.tar.xz"), workers: workers).integrity == .verified)
        #expect(try scratch.read("out/a") == content)
    }

    @Test func itSaysWhatIsWrong() throws {
        var tar = TarBuilder()
        tar.add("../evil\u{1}", content: "x")
        let archive = try scratch.write(tar.finished, to: scratch.path("archive"))
        guard case .archive(.bad(let problem)) = try failure({ try unpack(real, archive) }) else {
            Issue.record("another failure")
            return
        }
        #expect(problem.code == .unsafeEntry && problem.entry == Array("../evil\u{1}".utf8))
    }

    /// On a kernel without Landlock it goes on with the rest and says so; or it does nothing, where that is required.
    @Test func withoutLandlock() throws {
        let helpers = helpers(
            DropmillProcess.built("oldkernel"), ["landlock", DropmillProcess.binary.string, "unpack-worker"])
        let version = Atomic<Int64>(-1)
        let begun: @Sendable (Int64) -> Void = { @Sendable in version.store($0, ordering: .relaxed) }
        #expect(
            try failure { try unpack(helpers, zip(), begun: begun, change: { $0.requiresSandbox = true }) }
                == .unconfined(call: "landlock_create_ruleset", .noFunction))
        #expect(try scratch.tree("out").isEmpty)
        #expect(version.load(ordering: .relaxed) == -1, "it did not begin")
        #expect(try unpack(helpers, zip(), begun: begun).entries == 3)
        #expect(version.load(ordering: .relaxed) == -Int64(ENOSYS))
    }

    /// Where the kernel has no openat2, or what stands before it refuses it.
    @Test(arguments: ["openat2", "openat2-refused"])
    func withoutOpenat2(kernel: String) throws {
        let helpers = helpers(
            DropmillProcess.built("oldkernel"), [kernel, DropmillProcess.binary.string, "unpack-worker"])
        let version = Atomic<Int64>(-1)
        let begun: @Sendable (Int64) -> Void = { @Sendable in version.store($0, ordering: .relaxed) }
        #expect(try unpack(helpers, zip(), begun: begun, change: { $0.requiresSandbox = true }).entries == 3)
        #expect(version.load(ordering: .relaxed) > 0)
        #expect(try scratch.tree("out").count == 4)
    }

    /// A call that is refused is no damage, whatever was to be done by it.
    @Test(arguments: [Errno.noFunction, .notPermitted, .permissionDenied])
    func aRefusalIsOfTheSurroundings(errno: Errno) throws {
        for action in ["read", "open", "create", "set the time of"] {
            let failure = Failure(
                HelperFailure.archive(.system(action: action, entry: Array("d/f".utf8), errno: errno)),
                archive: "archive", name: try #require(FileName("archive")), folder: folder)
            #expect(failure.class == .environment && failure.code == "unpack.refused")
            #expect(failure.summary.contains("d/f") && !failure.remedy.isEmpty)
        }
    }

    /// What a helper may call once it has given up its rights: those that write a tree, and what memory and threads
    /// need.
    private static let allowed: Set<String> = [
        "pwrite64", "write", "openat2", "close", "pread64", "read", "lseek", "utimensat", "fstat", "mkdirat",
        "ftruncate", "symlinkat", "linkat", "unlinkat", "fstatfs", "sync_file_range", "sendmsg", "futex",
        "brk",
        "munmap", "mremap", "madvise", "getrandom", "mmap", "mprotect", "set_robust_list", "rseq", "rt_sigprocmask",
        "rt_sigaction",
        "sched_yield", "sched_getaffinity", "gettid", "getpid", "exit", "exit_group",
    ]

    @Test(
        .enabled(if: Tool.find("strace") != nil, Comment(rawValue: Tool.skip("strace"))),
        arguments: [
            "tar -cf archive in", "tar -czf archive in", "tar --zstd -cf archive in", "tar -cJf archive in",
            "bsdtar --format=zip -cf archive in", "bsdtar --format=7zip -cf archive in", "tar -cjf archive in",
            "bsdtar --format=newc -cf archive in", "bsdtar --format=ustar --lz4 -cf archive in",
            "bsdtar --format=ustar --compress -cf archive in", "bsdtar --format=ustar --lzma -cf archive in",
            "zip -q -r archive.zip in -Z bzip2",
            "bsdtar --format=zip --options zip:encryption=traditional --passphrase p -cf archive in", "gzip -k in/big",
            "bsdtar --format=zip --options zip:encryption=aes256 --passphrase p -cf archive in",
            "bsdtar --format=xar -cf archive in", "bsdtar --format=iso9660 -cf archive in",
            "bsdtar --format=arbsd -cf archive -C in big", "bsdtar --format=ustar --lzip -cf archive in",
        ])
    func itCallsNothingElse(command: String) throws {
        try scratch.write((0..<400_000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 7) }, to: scratch.path("in/big"))
        for index in 0..<150 { try scratch.write("file \(index)", to: "in/d\(index % 3)/f\(index)") }
        try scratch.link("in/link", to: "big")
        let words = command.split(separator: " ").map(String.init)
        guard let tool = Tool.find(words[0]) else { return }
        try #require(try tool.run(Array(words.dropFirst()), in: scratch.path).status == 0)
        let trace = scratch.path("trace")
        let strace = try #require(Tool.find("strace"))
        // The tracer stands aside (-D): the server is to be our own child.
        let helpers = helpers(
            strace.path, ["-D", "-f", "-qq", "-o", trace.string, DropmillProcess.binary.string, "unpack-worker"])
        let archive = words[0] == "gzip" ? "in/big.gz" : words[0] == "zip" ? "archive.zip" : "archive"
        let report = try unpack(helpers, scratch.path(archive), change: { $0.policy.passwords = [Array("p".utf8)] })
        #expect(report.entries > 0)
        let lines = try scratch.text("trace").split(separator: "\n")
        // The last of its threads to give up its rights is the first.
        let confined = try #require(lines.lastIndex { $0.contains("PR_SET_SECCOMP") || $0.contains("seccomp(") })
        // Not CLONE_PARENT_SETTID, which threads have too.
        let born = try #require(lines.firstIndex { $0.contains("CLONE_PARENT|") })
        let servers = Set(lines[...born].map { $0.prefix { $0 != " " } })
        var calls: Set<String> = []
        for line in lines[(confined + 1)...] where !servers.contains(line.prefix { $0 != " " }) {
            // Asked by the C library before it gives memory back, which it does in either case.
            if line.contains("/proc/sys/vm/overcommit_memory") { continue }
            // The process, and the call; what was interrupted by another thread is told twice.
            let call = line.drop { $0 != " " }.drop { $0 == " " }
            guard call.first?.isLetter == true else { continue }
            calls.insert(String(call.prefix { $0 != "(" }))
            #expect(!line.contains("EACCES") && !line.contains("EPERM"), "\(line)")
        }
        let others = calls.subtracting(Self.allowed)
        #expect(others == [], "\(lines.filter { line in others.contains { line.contains($0) } })")
        #expect(calls.contains("openat2"))
        #expect(!lines.contains { $0.contains("SIGSYS") })
    }

    /// What is to be synced when all is there is on its way to the disk by then.
    @Test(
        .enabled(if: Tool.find("strace") != nil, Comment(rawValue: Tool.skip("strace"))),
        arguments: [(true, 1, 20 << 20, 3), (false, 1, 20 << 20, 0), (true, 5, 64 << 10, 5), (true, 5, 32 << 10, 0)])
    func filesAreBegunToBeWritten(isSyncedSoon: Bool, files: Int, size: Int, calls: Int) throws {
        let trace = scratch.path("trace")
        let strace = try #require(Tool.find("strace"))
        let helpers = helpers(
            strace.path,
            [
                "-D", "-f", "-qq", "-e", "trace=sync_file_range,utimensat", "-o", trace.string,
                DropmillProcess.binary.string, "unpack-worker",
            ])
        _ = try unpack(helpers, try zip(files, size: size), change: { $0.policy.isSyncedSoon = isSyncedSoon })
        let lines = try scratch.text("trace").split(separator: "\n")
        #expect(lines.count { $0.contains("sync_file_range(") } == calls)
        #expect(lines.contains { $0.contains("utimensat(") })
    }

    /// Without its library nothing can be unpacked, whatever the archive is: everything waits until it is there.
    @Test func withoutLibarchive() throws {
        try scratch.write("none", to: "libraries/libarchive.so.13")
        let variable = "LD_LIBRARY_PATH=" + scratch.path("libraries").string
        let helpers = helpers("/usr/bin/env", [variable, DropmillProcess.binary.string, "unpack-worker"])
        let archive = try zip()
        let failure = try failure { try unpack(helpers, archive) }
        let meaning = Failure(failure, archive: archive, name: try #require(FileName("archive")), folder: folder)
        #expect(meaning.class == .environment && meaning.code == "unpack.library")
        #expect(meaning.remedy.contains("libarchive13") && meaning.detail.contains("libarchive.so.13"))
        // The next one is another process's.
        try Folder.remove(scratch.path("libraries"))
        #expect(try unpack(helpers, archive).entries == 3)
    }

    /// It may ask, and does, how much room is left while it writes. An archive that is too large for the disk is tried
    /// again and fails; where others took the room everything waits.
    @Test(arguments: [
        (30 << 20, Failure.Class.transient, "archive.no-room"), (1 << 40, .environment, "archive.disk-full"),
    ])
    func itLooksForRoom(space: Int64, expected: Failure.Class, code: String) throws {
        let archive = try zip(1, size: 20 << 20)
        #expect(try unpack(real, archive, change: { $0.policy.limits.space = space }).bytes == 20 << 20)
        try Folder.remove(scratch.path("out/d"))
        let change: (inout UnpackRequest) -> Void = {
            ($0.policy.limits.space, $0.policy.limits.reserve) = (space, .max / 2)
        }
        let failure = try failure { try unpack(real, archive, change: change) }
        let meaning = Failure(failure, archive: archive, name: try #require(FileName("archive")), folder: folder)
        #expect(meaning.class == expected && meaning.code == code)
        #expect(!meaning.remedy.isEmpty)
    }

    /// Whatever a helper leaves is looked over: one that an archive took over can make anything in its folder.
    @Test(arguments: [
        ("ln -s /etc/passwd l", false), ("ln -s ../x l", false), ("ln -s inside l", true), ("mkfifo p", false),
        ("echo x >s; chmod 4755 s", false), ("echo x >w; chmod 666 w", false), ("mkdir d; chmod 1777 d", false),
        ("ln \"$VICTIM\" h", false), ("echo x >f; ln f g", true), ("mkdir -p d/e; echo x >d/e/f", true),
        ("mkdir -p 1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17/18/19/20/21/22/23/24/25/26/27/28/29/30/31/32/33", false),
    ])
    func whatHelpersLeave(deed: String, isHarmless: Bool) throws {
        let victim = try scratch.write("x", to: "victim")
        let script = "VICTIM='\(victim.string)'; umask 022; cd '\(folder.string)'; \(deed); " + Self.done
        let helper = fakes("/bin/sh", "-c", script)
        if isHarmless {
            #expect(try unpack(helper, zip()).entries == 1)
        } else {
            #expect(try failure { try unpack(helper, zip()) } == .confused)
        }
    }

    /// A helper that hangs, crashes, or says what no helper says.
    @Test func othersThatDoNotHelp() throws {
        let archive = try zip()
        #expect(
            try failure { try unpack(fakes("/bin/sleep", "1000"), archive, seconds: 1) } == .overTime(seconds: 1))
        let silent = try failure { try unpack(fakes("/bin/true"), archive) }
        guard case .unavailable = silent else {
            Issue.record("\(silent)")
            return
        }
        let chatter = fakes("/bin/sh", "-c", "printf nonsense >&3; sleep 1000")
        #expect(try failure { try unpack(chatter, archive) } == .confused)
        let absent = try failure { try unpack(helpers("/nowhere/dropmill", []), archive) }
        #expect(absent == .unavailable(.noSuchFileOrDirectory))
    }

    /// One that needs longer than its archive is given, for what came out: so does a disk that is slow.
    @Test func moreTimeForWhatComesOut() throws {
        let helper = fakes("/bin/sh", "-c", Self.begun + Self.aGiBIsOut + "sleep 1.5; " + Self.end)
        #expect(try failure { try unpack(helper, zip(), seconds: 1) } == .overTime(seconds: 1))
        #expect(try unpack(helper, zip(), seconds: 1, secondsPerGiB: 60).entries == 1)
        // More than may come out is not believed.
        let unbelievable = try failure {
            try unpack(helper, zip(), seconds: 1, secondsPerGiB: 60, change: { $0.policy.limits.bytes = 1 << 20 })
        }
        #expect(unbelievable == .overTime(seconds: 1))
    }

    @Test func oneThatCrashes() throws {
        for (end, signal) in [("kill -SEGV $$", SIGSEGV), ("kill -KILL $$", SIGKILL), ("exit 3", 0)] {
            let helper = fakes("/bin/sh", "-c", Self.begun + "echo last words >&2; " + end)
            let failure = try failure { try unpack(helper, zip()) }
            #expect(failure == .crashed(signal: signal, status: signal == 0 ? 3 : 0, log: "last words\n"))
        }
    }

    @Test func moreComputingThanItMay() throws {
        // Many streams of what is slow to decode: some ten seconds on any machine.
        var generator = SeededGenerator(seed: 1)
        var noise = [UInt8](repeating: 0, count: 4 << 20)
        noise.withUnsafeMutableBytes { bytes in
            for place in stride(from: 0, to: bytes.count, by: 8) {
                bytes.storeBytes(of: generator.next(), toByteOffset: place, as: UInt64.self)
            }
        }
        let path = try scratch.write(noise, to: scratch.path("noise"))
        guard let bzip2 = Tool.find("bzip2") else { return }
        try #require(try bzip2.run(["-q", "-1", path.string]).status == 0)
        let stream = try ScratchFolder.read(scratch.path("noise.bz2"))
        var streams = stream
        for _ in 0..<6 { streams += streams }
        let archive = try scratch.write(streams, to: scratch.path("much.bz2"))
        let failure = try failure { try unpack(real, archive, change: { $0.cpuSeconds = 1 }) }
        #expect(failure == .overCPU)
    }

    /// A library that never comes back, in a call that reads nothing: by the clock, by the processor's, and called off.
    @Test func aLibraryThatHangs() throws {
        let archive = try scratch.write(XarBuilder.endless, to: scratch.path("archive"))
        let late = try failure { try unpack(real, archive, seconds: 1, change: { $0.cpuSeconds = 600 }) }
        #expect(late == .overTime(seconds: 1))
        #expect(try failure { try unpack(real, archive, change: { $0.cpuSeconds = 1 }) } == .overCPU)
        let hasBegun = Atomic<Bool>(false)
        let monitor = UnpackMonitor(isStopped: { @Sendable in hasBegun.load(ordering: .relaxed) })
        let calledOff = try failure {
            try unpack(real, archive, monitor: monitor, begun: { _ in hasBegun.store(true, ordering: .relaxed) })
        }
        #expect(calledOff == .cancelled)
    }

    @Test func callingOffKills() throws {
        let stopped = Atomic<Bool>(false)
        let monitor = UnpackMonitor(
            report: { @Sendable _, _ in stopped.store(true, ordering: .relaxed) },
            isStopped: { @Sendable in stopped.load(ordering: .relaxed) })
        let archive = try zip(20_000, size: 10)
        #expect(try failure { try unpack(real, archive, monitor: monitor) } == .cancelled)
    }

    /// It works in the folder that it was given, and nowhere else.
    @Test func nothingOutside() throws {
        var tar = TarBuilder()
        tar.add("up", .symbolicLink, target: "..")
        tar.add("good", content: "x")
        let archive = try scratch.write(tar.finished, to: scratch.path("archive"))
        _ = try failure { try unpack(real, archive) }
        #expect(try Folder.names(in: scratch.path).map(\.text).sorted() == ["archive", "out"])
    }

    /// Where helpers are gone before they begin, another takes their place.
    @Test func someThatAreGone() throws {
        let flag = scratch.path("gone")
        // The first two end at once, as if killed for their memory.
        let script =
            "if mkdir '\(flag.string)1' 2>/dev/null || mkdir '\(flag.string)2' 2>/dev/null; then exit 1; fi; "
            + Self.done
        #expect(try unpack(fakes("/bin/sh", "-c", script), zip()).entries == 1)
        #expect(scratch.exists("gone2"))
    }
}
