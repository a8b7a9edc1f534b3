import Glibc
import Helpers

/// Checks a helper's reports against what it has written. A compromised helper could
/// fill the disk and not report it.
struct HelperGuard {
    /// Nanoseconds from one look to the next, and the most that one takes; one that took long is followed by a pause of
    /// so many times as long.
    private static let pause: Int64 = 1_000_000_000
    private static let longest: Int64 = 250_000_000
    private static let rest: Int64 = 20
    /// Bytes that may be written and not told of yet: what a helper gathers before it says so, and a block of each of
    /// its threads.
    private static let untold: Int64 = 64 << 20
    /// How near to all there was a helper is where it took the last of it itself; as it judges by itself.
    private static let margin: Int64 = 32 << 20

    private let folder: Int32
    private let limits: ExtractionLimits
    private var due = Clock.now() + pause
    /// What was seen last, until it was compared with what the helper has said by then.
    private var seen: TreeSize?

    init(_ folder: Int32, _ limits: ExtractionLimits) {
        self.folder = folder
        self.limits = limits
    }

    /// To be called often, with the bytes that the helper has told of, and whether it has nothing more to say at the
    /// moment. Throws where it wrote more than it may or than it says, and where the disk has come to what must stay
    /// free.
    mutating func check(told bytes: Int64, isSilent: Bool) throws(HelperFailure) {
        let begin = Clock.now()
        // A report after the look covers what was seen; a helper that never stops reporting is not waited for.
        if let size = seen, isSilent || begin >= due {
            if size.exceeds(limits) || size.bytes - Self.untold > bytes { throw .overgrown }
            seen = nil
        }
        guard begin >= due else { return }
        if let room = DiskRoom.left(of: folder, reserve: limits.reserve), room.bytes <= 0 {
            let tookIt = max(0, bytes) >= limits.space - Self.margin
            throw .archive(tookIt ? .noRoom(nil, for: .bytes, had: limits.space) : .diskFull(nil, of: .bytes))
        }
        seen = TreeSize.look(at: folder, limits, until: begin + Self.longest)
        let end = Clock.now()
        due = end + max(Self.pause, Self.rest * (end - begin))
    }
}
