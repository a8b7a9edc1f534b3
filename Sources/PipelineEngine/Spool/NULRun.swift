/// The NULs that a power cut left in a list. ext4 orders only blocks that are new before the size that covers them: a
/// write that went into a block that was there may be NULs from where it began, or from a block's start, up to its own
/// end or a block's. Only one run of them is taken for that. A file with more is left as it is: nearly always it is no
/// list of ours (lines that end with NULs, a program, an archive). So is a single NUL behind somebody's line. Pure.
struct NULRun {
    /// The longest that is taken for damage: a batch writes far less at once.
    static let longest: Int64 = 1 << 20
    /// The smallest block of a file system that lists lie on.
    private static let block: Int64 = 1024

    private var first: Int64 = 0
    private var last: Int64 = 0
    private var count = 0
    /// Where the line began that the NULs are in, if it is empty before them or begins as one of ours.
    private var line: Int64?

    private(set) var isOpen = false
    /// What follows them up to the newline, if that is a whole line of ours.
    var following: [UInt8]?

    mutating func begin(at position: Int64, line: Int64?) {
        isOpen = true
        count = min(count + 1, 2)
        (first, self.line) = (position, line)
    }

    mutating func end(at position: Int64) {
        isOpen = false
        last = position
    }

    /// Whether there was any.
    var isSeen: Bool { count > 0 }
    /// Whether there was more than one, so that all of it stays.
    var isStrangers: Bool { count > 1 }

    /// Whether a line that began at this place has NULs in it.
    func touches(_ start: Int64) -> Bool { count > 0 && last > start }

    /// What makes a comment of it in a list of this size, which begins with this character; none where it is no damage.
    func patches(mark: UInt8, size: Int64) -> [ListPatch] {
        guard count == 1, first > 0, last - first <= Self.longest, last == size || last % Self.block == 0,
            line != nil || first % Self.block == 0 || last - first > 1
        else { return [] }
        var bytes = [UInt8](repeating: 0x20, count: Int(last - first))
        if following != nil { bytes[bytes.count - 1] = 0x0A }
        guard let line else {
            // Somebody's line ends where they begin.
            bytes[0] = 0x0A
            if bytes.count > 1, bytes[1] == 0x20 { bytes[1] = mark }
            return [ListPatch(offset: first, bytes: bytes)]
        }
        if line == first, bytes[0] == 0x20 { bytes[0] = mark }
        let patch = ListPatch(offset: first, bytes: bytes)
        return line < first ? [ListPatch(offset: line, bytes: [mark]), patch] : [patch]
    }
}
