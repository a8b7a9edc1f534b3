import Glibc
import PipelineKit
import Synchronization
import TestSupport
import Testing

@testable import DropmillCommand
@testable import SQLiteJournal

@Suite struct IdleMemoryTests {
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
            // What the linker relocated: constants by their rights, but no longer as in the file. (`Private_Dirty` also
            // has pages of a program that was built a moment ago.)
            let relocated = try Self.sum("Anonymous") { !$0.contains("w") }
            let before = try Self.sum("Rss") { !$0.contains("w") }
            IdleMemory.giveBack()
            let after = try Self.sum("Rss") { !$0.contains("w") }
            guard relocated > 0, try Self.sum("Anonymous", where: { !$0.contains("w") }) == relocated else {
                exit(2)
            }
            guard after < before * 3 / 4 else { exit(3) }
            guard heap.reduce(0, +) == 4_999_950_000 else { exit(4) }
            let journal = try SQLiteJournal.open(writing: .init(path), durable: false)
            guard try journal.counts().isEmpty else { exit(5) }
            journal.close()
        }
    }

    @Test func itIsGivenBackOnceAfterEachTimeOfWork() async throws {
        let given = Counter()
        let released = Counter()
        let memory = IdleMemory(after: .milliseconds(10)) { @Sendable in
            // What was freed before can be given back with the rest.
            given.count.withLock { $0 = released.count.withLock { $0 } }
        }
        memory.release { @Sendable in released.count.withLock { $0 += 1 } }
        for work in 1...3 {
            for _ in 0..<10 { memory.noteEvent() }
            #expect(await eventually { given.count.withLock { $0 } == work })
        }
    }

    private final class Counter: Sendable {
        let count = Mutex(0)
    }
}
