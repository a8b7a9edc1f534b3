import Files
import Glibc
import SystemPackage
import TestSupport
import Testing

extension Torture {
    /// What each file of a burst costs in the quick lane besides its system calls: blocks of memory, and the times that
    /// a thread gave way to another. Of two bursts the difference counts, so that the start does not.
    @Suite(.enabled(if: DropmillProcess.optimised != nil, "needs an optimised build: `make release`"))
    struct BurstTests {
        /// Seen: 0.2, with batches of 256; each hand-over of single files would add at least one.
        private static let switches = 0.6
        /// Seen: 145 allocations of 54 kB.
        private static let blocks = 160.0
        private static let kilobytes = 65.0

        @Test func costsLittlePerFile() throws {
            let (few, many) = (1000, 5000)
            let (first, second) = (try Self.burst(of: few), try Self.burst(of: many))
            func each(_ one: Double, _ other: Double) -> Double { (other - one) / Double(many - few) }
            let switches = each(first.switches, second.switches)
            let blocks = each(first.blocks, second.blocks)
            let kilobytes = each(first.bytes, second.bytes) / 1000
            Torture.say(
                "a file of a burst: \(switches) voluntary context switches, \(blocks) allocations of \(kilobytes) kB")
            #expect(switches <= Self.switches)
            #expect(blocks <= Self.blocks)
            #expect(kilobytes <= Self.kilobytes)
            #expect(blocks > 1, "nothing was counted")
        }

        /// A run over so many files.
        private static func burst(of count: Int) throws -> (switches: Double, blocks: Double, bytes: Double) {
            let scratch = try ScratchFolder()
            for name in ["inbox", "processed", "failed"] { try scratch.makeFolder(name) }
            let content = Mill.content("drop", size: 4000)
            for number in 1...count { try scratch.write(content, to: scratch.path("inbox/drop-\(number).bin")) }
            let folders = ["inbox", "processed", "failed"].map { "\($0): \(scratch.path($0).string)\n" }.joined()
            try scratch.write(folders + "ready: { quiet: 50ms }\nstages: [checksum]\n", to: "pipelines/burst.yaml")
            let counts = scratch.path("counts")
            try scratch.write([UInt8](repeating: 0, count: 16), to: counts)
            let library = DropmillProcess.built("libheapcount.so").string
            var program = try DropmillProcess(
                ["run", "--once", scratch.path("pipelines").string, "--state", scratch.path("state").string],
                in: scratch.path, log: scratch.path("log"),
                wrapper: ["/usr/bin/env", "LD_PRELOAD=\(library)", "HEAPCOUNT=\(counts.string)"],
                of: try #require(DropmillProcess.optimised))
            let (status, usage) = try program.waitCounting()
            #expect(status == 0, "\(program.transcript)")
            #expect(try Folder.names(in: scratch.path("processed")).count == 2 * count)
            let counted = try ScratchFolder.read(counts).withUnsafeBytes { bytes in
                [0, 8].map { Double(bytes.loadUnaligned(fromByteOffset: $0, as: Int64.self)) }
            }
            return (Double(usage.ru_nvcsw), counted[0], counted[1])
        }
    }
}
