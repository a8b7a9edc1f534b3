import Glibc
import PipelineKit
import SystemPackage
import TestSupport
import Testing

/// How many system calls a drop may cost, counted on the real program: what creeps in is seen here before it is felt.
/// docs/benchmarks.md tells where they go. Counted are the calls that name the drop, its job's folder or what is in it,
/// so that the numbers do not depend on how batches fell; `fast`, since a sync of few files is made one by one.
@Suite(
    "System calls",
    .enabled(if: Tool.find("strace") != nil, Comment(rawValue: Tool.skip("strace"))))
struct SystemCallTests {
    private let scratch: ScratchFolder

    init() throws {
        scratch = try ScratchFolder()
        for name in ["inbox", "processed", "failed"] { try scratch.makeFolder(name) }
    }

    @Test(
        "A small file: look twice, claim, look again, hash, settle",
        arguments: [("quick lane", "", perSmallFile), ("usual way", "\norder: name", perUsualFile)])
    func smallFile(way: String, rule: String, budget: Int) throws {
        let drops = 40
        for number in 1...drops { try scratch.write("drop \(number)", to: "inbox/drop-\(number).bin") }
        // Few at a time, so that a job's folder serves many.
        let calls = try run(stages: "[checksum]\nactive: { jobs: 4 }\(rule)").counting { line in
            line.contains("drop-") || line.contains("/active/")
        }
        #expect(try FileTree.list(scratch.path("processed")).files.count == 2 * drops)
        #expect(calls.total <= budget * drops, "\(way): \(calls.each(of: drops))")
    }

    @Test("An entry of an archive: unpack, hash, list")
    func archiveEntry() throws {
        let entries = 100
        var zip = ZipBuilder()
        for number in 1...entries { zip.add(Array("entry-\(number).txt".utf8), content: Array("entry \(number)".utf8)) }
        try scratch.write(zip.finished, to: scratch.path("inbox/archive.zip"))
        let output = try scratch.makeFolder("output")
        let stages = "[unpack, checksum: { manifest: SHA256SUMS }, move: { to: \"\(output.string)/{stem}\" }]"
        let calls = try run(stages: stages).counting { $0.contains("entry-") }
        #expect(try FileTree.list(output).files.count == entries + 1)
        #expect(calls.total <= Self.perEntry * entries, "\(calls.each(of: entries))")
    }

    @Test("What is not small in an archive is on its way to the disk before the sync, where it is to be synced")
    func largeEntry() throws {
        // 8 MiB of the large file and the rest of it, and the middle one; the small one is left to the sync.
        for (durability, calls) in [("full", 3), ("fast", 0)] {
            var zip = ZipBuilder()
            zip.add(Array("large".utf8), content: [UInt8](repeating: 7, count: 9 << 20))
            zip.add(Array("middle".utf8), content: [UInt8](repeating: 7, count: 64 << 10))
            zip.add(Array("small".utf8), content: [UInt8](repeating: 7, count: 60 << 10))
            try scratch.write(zip.finished, to: scratch.path("inbox/\(durability).zip"))
            let output = try scratch.makeFolder("output")
            let trace = try run(stages: "[unpack, move: { to: \"\(output.string)/{stem}\" }]", durability)
            #expect(trace.counting { $0.contains("sync_file_range(") }.total == calls, "\(durability)")
            #expect(try FileTree.list(output.appending("\(durability)")).files.count == 3)
        }
    }

    @Test("Where the daemon may not have a higher priority, the system's log is not told of that")
    func priority() throws {
        let user = try #require(DaemonUser.possible.last)
        if user == .ordinary {
            let chown = try #require(Tool.find("chown"))
            #expect(try chown.run(["-R", "65534:65534", scratch.path.string]).status == 0)
        }
        let trace = try run(stages: "[checksum]", tracing: ["-e", "trace=connect,setpriority"], as: user)
        #expect(trace.counting { $0.contains("setpriority(") }.total > 0)
        #expect(trace.counting { $0.contains("/dev/log") }.total == 0)
    }

    private static let perSmallFile = 21
    private static let perUsualFile = 33
    private static let perEntry = 10

    /// Lets the program settle what is in the inbox, and returns every call of these that it made.
    private func run(
        stages: String, _ durability: String = "fast", tracing calls: [String] = ["-y", "-e", "trace=%file,%desc"],
        as user: DaemonUser = .caller
    ) throws -> Trace {
        let strace = try #require(Tool.find("strace"))
        let pipeline = """
            inbox: ../inbox
            processed: ../processed
            failed: ../failed
            ready: { quiet: 50ms }
            durability: \(durability)
            stages: \(stages)
            """
        try scratch.write(pipeline, to: "pipelines/counted.yaml")
        let trace = scratch.path("trace")
        var program = try DropmillProcess(
            ["run", "--once", scratch.path("pipelines").string, "--state", scratch.path("state").string],
            in: scratch.path, log: scratch.path("log"),
            wrapper: [strace.path.string, "-f", "-qq"] + calls + ["-o", trace.string] + user.wrapper)
        let status = try program.wait()
        #expect(status == 0, "\(program.transcript)")
        return Trace(text: String(decoding: try ScratchFolder.read(trace), as: UTF8.self))
    }

    private struct Trace {
        let text: String

        /// How often each call was made whose line is wanted. A call that another thread's interrupted has a second
        /// line, which says `resumed`; what inotify tells is no call on a file.
        func counting(_ isWanted: (Substring) -> Bool) -> Counts {
            var counts = Counts()
            for line in text.split(separator: "\n") {
                guard !line.contains(" resumed>"), !line.contains("anon_inode:inotify"), isWanted(line),
                    let call = line.split(separator: " ", maxSplits: 1).last?.prefix(while: { $0 != "(" })
                else { continue }
                counts.calls[String(call), default: 0] += 1
            }
            return counts
        }
    }

    private struct Counts {
        var calls: [String: Int] = [:]

        var total: Int { calls.values.reduce(0, +) }

        /// Which they were, for so many drops.
        func each(of drops: Int) -> String {
            calls.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
                .map { "\($0.key) \(Double($0.value) / Double(drops))" }.joined(separator: ", ")
        }
    }
}
