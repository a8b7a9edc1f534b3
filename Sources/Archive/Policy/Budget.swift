import Synchronization

/// What an archive and all within it have taken so far of what they may. Everything is counted before it is written.
final class Budget: Sendable {
    let limits: ExtractionLimits
    private let monitor: UnpackMonitor
    private let consumed = Atomic<Int64>(0)
    private let written = Atomic<Int64>(0)
    private let begun = Atomic<Int64>(0)
    /// Of these, what is not an entry of the archive.
    private let unlisted = Atomic<Int64>(0)
    private let isCalledOff = Atomic<Bool>(false)
    /// What an entry takes of the disk besides its bytes, about: an inode, a name, and half a block that is not full.
    private static let cost: Int64 = 4096
    /// The archive's length: what is read of it again is not read of more.
    private let size = Atomic<Int64>(0)
    /// The folder that is unpacked to. Others write to its file system too, and so do other jobs that saw the same room
    /// when they began: it is looked at again each time that so many more bytes are taken of it.
    private let folder: Int32
    private static let portion: Int64 = 16 << 20
    /// What is found to be gone was taken by this extraction alone where it has come this near to all there was: others
    /// that write, and what file systems keep for themselves, move that by a little.
    private static let margin = 2 * portion
    private let nextLook = Atomic<Int64>(portion)

    /// `folder`: where all of it goes, whose descriptor must stay open.
    init(_ limits: ExtractionLimits, _ monitor: UnpackMonitor, folder: Int32) {
        self.limits = limits
        self.monitor = monitor
        self.folder = folder
    }

    /// Bytes written so far, holes included.
    var bytes: Int64 { written.load(ordering: .relaxed) }
    var entries: Int64 { begun.load(ordering: .relaxed) - unlisted.load(ordering: .relaxed) }

    func checkStopped() throws(ArchiveError) {
        if isCalledOff.load(ordering: .relaxed) || monitor.isStopped() { throw .stopped }
    }

    /// Has the other threads stop: one of them has failed.
    func callOff() { isCalledOff.store(true, ordering: .relaxed) }

    /// The archive that all comes out of has so many bytes.
    func expect(size: Int64) { self.size.store(size, ordering: .relaxed) }

    func consume(_ bytes: Int64) { consumed.wrappingAdd(bytes, ordering: .relaxed) }

    /// One more entry, of that size as far as its header says.
    func begin(_ entry: [UInt8], size: Int64 = 0) throws(ArchiveError) {
        try count(entry)
        try checkEntry(size, entry)
        // What may not be is not begun. Whether there is room for it shows when it comes: headers say anything.
        if size > limits.bytes { throw tooLarge(entry) }
        if size > Self.portion { try look(entry) }
        monitor.report(0, 1)
    }

    /// What is not an entry but costs as much as one: a folder on the way to an entry that no entry names, or what an
    /// archive keeps for its own use.
    func beginUnlisted(for entry: [UInt8]) throws(ArchiveError) {
        unlisted.wrappingAdd(1, ordering: .relaxed)
        try count(entry)
    }

    private func count(_ entry: [UInt8]) throws(ArchiveError) {
        try checkStopped()
        let count = begun.wrappingAdd(1, ordering: .relaxed).newValue
        guard count <= limits.entries else { throw Self.tooManyEntries(entry, limits.entries) }
        guard count <= limits.files else { throw .noRoom(entry, for: .files, had: limits.files) }
        try checkRoom(written.load(ordering: .relaxed), count, entry, isNew: true)
    }

    private func checkRoom(
        _ bytes: Int64, _ entries: Int64, _ entry: [UInt8], isNew: Bool = false
    ) throws(ArchiveError) {
        let sum = Self.taken(bytes, entries, each: Self.cost)
        if sum == .max || sum > limits.space { throw .noRoom(entry, for: .bytes, had: limits.space) }
        guard sum >= nextLook.load(ordering: .relaxed) else { return }
        nextLook.store(sum + Self.portion, ordering: .relaxed)
        try look(entry, isNew: isNew)
    }

    /// What so many bytes in so many files take of a disk; the largest number where it is too large for one.
    private static func taken(_ bytes: Int64, _ entries: Int64, each cost: Int64) -> Int64 {
        let (costs, isTooLarge) = entries.multipliedReportingOverflow(by: cost)
        let (sum, overflow) = bytes.addingReportingOverflow(costs)
        return isTooLarge || overflow ? .max : sum
    }

    /// Throws where the file system has come to what must stay free of it. `isNew`: whether one more file is to be
    /// made; those that are there already need none.
    private func look(_ entry: [UInt8], isNew: Bool = false) throws(ArchiveError) {
        guard let room = DiskRoom.left(of: folder, reserve: limits.reserve) else { return }
        let entries = begun.load(ordering: .relaxed)
        // At most: every file may end in a block that is nearly empty, and larger than what is counted for it.
        let taken = Self.taken(written.load(ordering: .relaxed), entries, each: max(Self.cost, room.block))
        let tookBytes = taken >= limits.space - Self.margin
        if room.bytes <= 0 {
            throw tookBytes ? .noRoom(entry, for: .bytes, had: limits.space) : .diskFull(entry, of: .bytes)
        }
        if isNew, room.files <= 0 {
            // Some file systems make room for files out of that for bytes.
            let tookFiles = tookBytes || entries >= limits.files - Self.margin / Self.cost
            throw tookFiles ? .noRoom(entry, for: .files, had: limits.files) : .diskFull(entry, of: .files)
        }
    }

    /// Throws where there are more entries than there may be, before one is begun.
    func expect(entries count: Int64) throws(ArchiveError) {
        if count > limits.entries - begun.load(ordering: .relaxed) { throw Self.tooManyEntries(nil, limits.entries) }
    }

    /// So many more bytes are to be written for an entry, which has `total` then.
    func charge(_ bytes: Int64, total: Int64, to entry: [UInt8]) throws(ArchiveError) {
        try checkStopped()
        try checkEntry(total, entry)
        guard bytes <= limits.bytes else { throw tooLarge(entry) }
        let sum = written.wrappingAdd(bytes, ordering: .relaxed).newValue
        guard (0...limits.bytes).contains(sum) else { throw tooLarge(entry) }
        try checkRoom(sum, begun.load(ordering: .relaxed), entry)
        let read = min(consumed.load(ordering: .relaxed), size.load(ordering: .relaxed))
        if sum > limits.ratioGrace, sum / limits.ratio > max(1, read) {
            throw .limit(
                entry, "expands to more than \(limits.ratio) times the compressed size (max_ratio)",
                remedy: "Raise `max_ratio` of the stage 'unpack' if its content legitimately compresses that well.")
        }
        monitor.report(bytes, 0)
    }

    private func checkEntry(_ size: Int64, _ entry: [UInt8]) throws(ArchiveError) {
        guard let most = limits.entry, size > most else { return }
        throw .limit(
            entry, "is larger than \(most) bytes, the limit for one file (max_entry)",
            remedy: "Raise `max_entry` of the stage 'unpack' if files may be that large.")
    }

    private func tooLarge(_ entry: [UInt8]) -> ArchiveError {
        .limit(
            entry,
            "takes the archive's content beyond \(limits.bytes) bytes, the limit (max_bytes)",
            remedy: "Raise `max_bytes` of the stage 'unpack' if archives may be that large.")
    }

    static func tooManyEntries(_ entry: [UInt8]?, _ most: Int64) -> ArchiveError {
        .limit(
            entry, "exceeds the limit of \(most) entries (max_entries)",
            whole: "holds more than \(most) entries, the limit (max_entries)",
            remedy: "Raise `max_entries` of the stage 'unpack', or split the archive.")
    }
}
