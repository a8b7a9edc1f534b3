import Glibc
import PipelineKit
import TestSupport
import Testing

@testable import PipelineEngine
@testable import dropmill

@Suite struct StartMemoryTests {
    /// KiB of one kind in this process's mappings of files with these rights.
    private static func sum(_ kind: String, where isMeant: (Substring) -> Bool) throws -> Int {
        var total = 0
        var counts = false
        let text = String(decoding: try SmallFile.read("/proc/self/smaps", atMost: 1 << 24), as: UTF8.self)
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            if words.count >= 5, words[0].contains("-") {
                counts = words.count == 6 && words[5].hasPrefix("/") && isMeant(words[1])
            } else if counts, words.first == "\(kind):" {
                total += Int(words[1]) ?? 0
            }
        }
        return total
    }

    @Test func onlyWhatIsInFilesGoesAndTheProgramRunsOn() async throws {
        let scratch = try ScratchFolder()
        await #expect(processExitsWith: .success) { [path = scratch.path.string as String] in
            let heap = (0..<100_000).map { $0 }
            // What the linker relocated: constants by their rights, but no longer as in the file.
            let relocated = try Self.sum("Private_Dirty") { !$0.contains("w") }
            let before = try Self.sum("Rss") { !$0.contains("w") }
            StartMemory.giveBack()
            let after = try Self.sum("Rss") { !$0.contains("w") }
            guard relocated > 0, try Self.sum("Private_Dirty", where: { !$0.contains("w") }) == relocated else {
                exit(2)
            }
            guard after < before * 3 / 4 else { exit(3) }
            guard heap.reduce(0, +) == 4_999_950_000 else { exit(4) }
            let journal = try SQLiteJournal.open(writing: .init(path), durable: false)
            guard try journal.counts().isEmpty else { exit(5) }
            journal.close()
        }
    }
}
