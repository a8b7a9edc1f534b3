import Files
import Journal
import PipelineEngine
import PipelineKit
import Synchronization
import SystemPackage

/// What the removal from all folders has in common.
final class PruneWorld: Sendable {
    let journal: any FileJournal
    let pace = PrunePace()
    let now: @Sendable () -> Timestamp
    private let clock: Mutex<ClockDoubt>
    private let closing = Mutex(false)

    /// `seen`: when an earlier run of the daemon was there last.
    init(
        _ journal: any FileJournal, seen: Timestamp?, now: @escaping @Sendable () -> Timestamp = { @Sendable in .now() }
    ) {
        (self.journal, self.now) = (journal, now)
        clock = Mutex(ClockDoubt(seen: seen))
    }

    var isClosing: Bool { closing.withLock { $0 } }
    func close() { closing.withLock { $0 = true } }

    /// Whether nothing is to go by its age.
    var isClockDoubtful: Bool {
        clock.withLock { [now] clock in clock.isDoubtful(wall: now(), monotonic: .now()) }
    }

    /// Whether less is free where a folder is, even once so many bytes are freed there.
    func isShort(_ folder: FilePath, _ room: ByteSize, freed: Int64 = 0) -> Bool {
        FreeSpace.space(at: folder).map { $0.free < UInt64(clamping: room.bytes.subtractingSaturated(freed)) } ?? false
    }
}
