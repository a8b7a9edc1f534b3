import CLinux
import Glibc
import SystemPackage

/// A file that is being extracted. Closed when it goes; `finish` makes sure that all went well.
struct OutputFile: ~Copyable {
    private var descriptor: Int32
    private let entry: [UInt8]
    private let budget: Budget
    /// Where the data written so far ends.
    private(set) var end: Int64 = 0
    /// Whether the kernel is to begin to bring it to the disk while more is written, and up to where it was told to.
    private var isSyncedSoon: Bool
    private var begun: Int64 = 0

    /// Bytes after which the kernel is told: whoever syncs the file at its end would wait for all of it otherwise.
    private static let portion: Int64 = 8 << 20
    /// What a finished file must have left for that. The call costs 25 to 50 us, and each file needs one: below this a
    /// sync of all at the end is cheaper (ext4: 16 KiB 0.31 s by it and 0.33 s early, 64 KiB 1.06 and 0.83 s).
    private static let rest: Int64 = 64 << 10

    private init(descriptor: Int32, entry: [UInt8], budget: Budget, isSyncedSoon: Bool) {
        self.descriptor = descriptor
        self.entry = entry
        self.budget = budget
        self.isSyncedSoon = isSyncedSoon
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Makes a new file. The folder it goes to is nobody else's business until all is done, so it has its final mode
    /// from the beginning.
    static func create(
        _ path: EntryPath, in folder: Int32, mode: mode_t, _ budget: Budget, isSyncedSoon: Bool = false
    ) throws(ArchiveError) -> OutputFile {
        let descriptor = path.withName { dm_open_beneath(folder, $0, O_WRONLY | O_CREAT | O_EXCL, mode) }
        guard descriptor >= 0 else {
            let error = Errno(rawValue: errno)
            if error == .fileExists { throw .conflict(path.stored, "is stored twice") }
            throw .system(action: "create", entry: path.stored, errno: error)
        }
        return OutputFile(descriptor: descriptor, entry: path.stored, budget: budget, isSyncedSoon: isSyncedSoon)
    }

    /// Opens a file that was extracted before, to give it its content.
    static func reopen(_ path: EntryPath, in folder: Int32, _ budget: Budget) throws(ArchiveError) -> OutputFile {
        let descriptor = path.withName { dm_open_beneath(folder, $0, O_WRONLY | O_TRUNC, 0) }
        guard descriptor >= 0 else {
            let error = Errno(rawValue: errno)
            // `mode` may keep even its owner from writing; nothing here can give it another.
            if error == .permissionDenied {
                throw .unsupported(path.stored, "has its content stored under another name", detail: "")
            }
            throw .system(action: "open", entry: path.stored, errno: error)
        }
        return OutputFile(descriptor: descriptor, entry: path.stored, budget: budget, isSyncedSoon: false)
    }

    /// Writes a block to its place; what lies between blocks stays a hole, and counts like data.
    mutating func write(_ block: UnsafeRawBufferPointer, at offset: Int64) throws(ArchiveError) {
        let (next, overflow) = offset.addingReportingOverflow(Int64(block.count))
        guard offset >= 0, !overflow else { throw .damaged(entry, "has data at an impossible offset") }
        if next > end {
            try budget.charge(next - end, total: next, to: entry)
        } else {
            // Over what is there already: the work counts all the same.
            try budget.charge(Int64(block.count), total: end, to: entry)
        }
        var written = 0
        while written < block.count {
            let rest = UnsafeRawBufferPointer(rebasing: block[written...])
            let count = pwrite(descriptor, rest.baseAddress, rest.count, off_t(offset) + off_t(written))
            if count < 0 {
                if errno == EINTR { continue }
                throw .system(action: "write", entry: entry, errno: Errno(rawValue: errno))
            }
            written += count
        }
        end = max(end, next)
        if isSyncedSoon, end - begun >= Self.portion { try beginWriting() }
    }

    /// What the kernel cannot even begin to write it may drop, and tells nobody else.
    private mutating func beginWriting() throws(ArchiveError) {
        guard dm_begin_writeback(descriptor, begun, end - begun) == 0 else {
            let error = Errno(rawValue: errno)
            // A kernel without the call, or a container that forbids it: the file is merely written later.
            guard [.noFunction, .notPermitted].contains(error) else {
                throw .system(action: "write", entry: entry, errno: error)
            }
            isSyncedSoon = false
            return
        }
        begun = end
    }

    /// Gives the file its length (a hole may end it) and time, and closes it.
    consuming func finish(length: Int64, modified: timespec?) throws(ArchiveError) {
        if length > end {
            try budget.charge(length - end, total: length, to: entry)
            guard ftruncate(descriptor, off_t(length)) == 0 else {
                throw .system(action: "write", entry: entry, errno: Errno(rawValue: errno))
            }
        }
        if isSyncedSoon, end - begun >= Self.rest { try beginWriting() }
        if let modified {
            // A time that the file system cannot hold is cut to what it can (utimensat(2)).
            guard futimens(descriptor, FileTimes.pair(modified)) == 0 else {
                throw .system(action: "set the time of", entry: entry, errno: Errno(rawValue: errno))
            }
        }
        let closing = descriptor
        descriptor = -1
        if close(closing) != 0, errno != EINTR {
            throw .system(action: "close", entry: entry, errno: Errno(rawValue: errno))
        }
    }
}
