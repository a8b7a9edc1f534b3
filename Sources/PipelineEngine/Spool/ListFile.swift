import Files
import Glibc
import PipelineKit
import SystemPackage

/// Adds lines to a list of digests in a folder of outputs. Other batches, other daemons and people add to it as well,
/// and an editor may put another file in its place at any time: so what is there is neither taken out nor moved.
struct ListFile {
    /// What is to be done.
    struct Addition {
        /// The lines.
        var lines: [ListText] = []
        /// Whether to look for them first: some may be there, whole or in part.
        var byContent = false
        /// Whether lines of the same names with other digests become comments.
        var isReplacing = false
        /// Whether what is there of them may be in memory only, and is written once more.
        var isDoubtful = false
    }

    private let folder: HeldFolder
    private let name: FileName
    private let rights: OutputRights
    private let isSyncedAlone: Bool
    private let deadline: MonotonicTime
    private var path: FilePath { folder.path.appending(name) }

    /// How long others that hold the lock are waited for.
    static let patience = Duration.seconds(2)
    /// How often the list may be replaced while lines are added to it.
    private static let mostAttempts = 100
    /// A list that is larger is not looked at: lines are just added. A hundred bytes each, that is two and a half
    /// million lines; and nobody's file keeps others waiting for long.
    static let largestLookedAt: off_t = 256 << 20

    /// The list of this name. `rights`: what it gets when it is made; `isSyncedAlone`: whether it is synced here,
    /// as no later sync of the file system does that; `deadline`: until when others that hold the lock are waited for.
    init(
        _ name: FileName, in folder: HeldFolder, _ rights: OutputRights, isSyncedAlone: Bool = false,
        deadline: MonotonicTime = .now() + patience
    ) {
        self.folder = folder
        self.name = name
        self.rights = rights
        self.isSyncedAlone = isSyncedAlone
        self.deadline = deadline
    }

    /// Adds lines under a lock of the list. `noting`: called just before it is written to. `others`: the lines that any
    /// jobs may have written there in part. Throws with the action `adding` where it is no file of its own.
    func add(
        _ addition: Addition, noting: () -> Void = {}, others: () -> [[UInt8]] = { [] }
    ) throws(IOError) {
        var addition = addition
        for _ in 1...Self.mostAttempts {
            var isNew = false
            guard let file = try openLocked(&isNew, alone: addition.byContent || addition.isDoubtful) else { continue }
            let status = try file.status()
            guard FileIdentity(status) == (try folder.identity(of: name)) else { continue }
            if isNew { try setRights(of: file) }
            noting()
            if !addition.byContent, !addition.isDoubtful, try endsWithNewline(file, status.st_size) {
                if try append(addition.lines.flatMap(\.bytes), to: file), try isSettled(file) { return }
            } else if try mend(file, status, addition, others()), try isSettled(file) {
                return
            }
            // Part of it may be there by now, or in a file that is not the list any more.
            addition.byContent = true
        }
        throw IOError("write to", path, .resourceTemporarilyUnavailable)
    }

    /// Whether the list is still the one that was written to; what was written is on the disk then, if it has to be.
    private func isSettled(_ file: borrowing OpenFile) throws(IOError) -> Bool {
        if isSyncedAlone { try file.sync() }
        return FileIdentity(try file.status()) == (try folder.identity(of: name))
    }

    // MARK: Opening

    static let adding = "add lines to"

    /// Whether nothing keeps lines from being added: there is no list yet, or it is a file, has no other name, and is
    /// open to us.
    static func isPossible(_ name: FileName, in folder: HeldFolder) throws(IOError) -> Bool {
        guard let status = try folder.status(of: name) else { return true }
        let descriptor = folder.folder.file.descriptor
        guard isFile(status) else { return false }
        // What is ours is opened to us.
        if status.st_uid == geteuid() { return true }
        guard name.withCString({ faccessat(descriptor, $0, R_OK | W_OK, AT_EACCESS) }) != 0 else { return true }
        guard isOfList(.last) else { throw IOError("examine", folder.path.appending(name), .last) }
        return false
    }

    /// Whether an error is about what is in a list's place, and not about the disk.
    static func isOfList(_ error: Errno) -> Bool { [.permissionDenied, .notPermitted].contains(error) }

    private static func isFile(_ status: stat) -> Bool {
        FileKind(mode: status.st_mode) == .regular && status.st_nlink <= 1
    }

    /// The list, made where there is none, with its lock; nil where it came or went just now. `alone`: whether readers
    /// that lock it are waited for as well.
    private func openLocked(_ isNew: inout Bool, alone: Bool) throws(IOError) -> OpenFile? {
        let file: OpenFile
        do throws(IOError) {
            file = try openOrMake(&isNew)
        } catch {
            switch error.errno {
            case .fileExists: return nil
            case .permissionDenied where try openToUs(): return nil
            case .tooManySymbolicLinkLevels, .isDirectory, .noSuchAddressOrDevice:
                throw IOError(Self.adding, path, error.errno)
            default: throw error
            }
        }
        guard Self.isFile(try file.status()) else { throw IOError(Self.adding, path, .invalidArgument) }
        lock(file, alone: alone)
        return file
    }

    /// A file of ours came without the right to read and write it: an archive's, or one of `mode: "0444"`. Whether it
    /// has that now.
    private func openToUs() throws(IOError) -> Bool {
        guard let status = try folder.status(of: name), Self.isFile(status), status.st_uid == geteuid(),
            status.st_mode & 0o600 != 0o600
        else { return false }
        let descriptor = folder.folder.file.descriptor
        let mode = status.st_mode & 0o777 | 0o600
        return name.withCString { fchmodat(descriptor, $0, mode, AT_SYMLINK_NOFOLLOW) } == 0
    }

    private func openOrMake(_ isNew: inout Bool) throws(IOError) -> OpenFile {
        // Without waiting for whoever would read from a FIFO.
        let flags = O_RDWR | O_APPEND | O_NONBLOCK | O_NOCTTY
        do throws(IOError) {
            return try OpenFile.open(name, in: folder.folder.file, flags)
        } catch {
            guard error.errno == .noSuchFileOrDirectory else { throw error }
            let file = try OpenFile.open(name, in: folder.folder.file, flags | O_CREAT | O_EXCL, mode: 0o640)
            isNew = true
            return file
        }
    }

    private static let firstPause: useconds_t = 200, longestPause: useconds_t = 20_000

    /// Whoever adds to a list holds its lock for microseconds, but anybody who may read it can hold it for good. Who
    /// only appends shares it with readers; others are waited for until the deadline. Then it goes on without: lines
    /// are appended whole, and a list that has grown since it was read is read again.
    private func lock(_ file: borrowing OpenFile, alone: Bool) {
        var pause = Self.firstPause
        while flock(file.descriptor, LOCK_EX | LOCK_NB) != 0 {
            switch Errno.last {
            case .interrupted: continue
            case .wouldBlock: break
            default: return
            }
            if !alone, flock(file.descriptor, LOCK_SH | LOCK_NB) == 0 { return }
            if MonotonicTime.now() >= deadline { return }
            usleep(pause)
            pause = min(pause * 2, Self.longestPause)
        }
    }

    /// A list that was just made gets the pipeline's rights, but we may always write to it.
    private func setRights(of file: borrowing OpenFile) throws(IOError) {
        if let mode = rights.mode, fchmod(file.descriptor, mode | 0o600) != 0 {
            throw IOError("set the mode of", path, .last)
        }
        guard rights.owner != nil || rights.group != nil else { return }
        guard fchown(file.descriptor, rights.owner ?? uid_t.max, rights.group ?? gid_t.max) == 0 else {
            throw IOError("set the owner of", path, .last)
        }
    }

    // MARK: Appending

    private func endsWithNewline(_ file: borrowing OpenFile, _ size: off_t) throws(IOError) -> Bool {
        guard size > 0 else { return true }
        var last: UInt8 = 0
        let descriptor = file.descriptor
        let count = retrying { pread(descriptor, &last, 1, size - 1) }
        guard count >= 0 else { throw IOError("read", path, .last) }
        return count == 1 && last == 0x0A
    }

    /// In one call, so that nobody's line gets between. Whether all of it was written.
    private func append(_ bytes: [UInt8], to file: borrowing OpenFile) throws(IOError) -> Bool {
        let descriptor = file.descriptor
        let count = bytes.withUnsafeBytes { bytes in
            retrying { Glibc.write(descriptor, bytes.baseAddress, bytes.count) }
        }
        guard count >= 0 else { throw IOError("write", path, .last) }
        return count == bytes.count
    }

    // MARK: By content

    /// Adds what is not there. False if the list grew while it was read, or the write was short: then it starts over.
    private func mend(
        _ file: borrowing OpenFile, _ status: stat, _ addition: Addition, _ others: [[UInt8]]
    ) throws(IOError) -> Bool {
        var scan = ListScan(
            for: addition.lines, others: others, replacing: addition.isReplacing, rewriting: addition.isDoubtful)
        guard status.st_size <= Self.largestLookedAt else {
            let start: [UInt8] = try endsWithNewline(file, status.st_size) ? [] : [0x0A]
            return try append(start + addition.lines.flatMap(\.bytes), to: file)
        }
        guard lseek(file.descriptor, 0, SEEK_SET) == 0 else { throw IOError("read", path, .last) }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 16)
        defer { buffer.deallocate() }
        while case let count = try file.read(into: buffer), count > 0 {
            let patches = scan.read(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            try write(patches, over: file)
        }
        let mending = scan.mending()
        try write(mending.patches, over: file)
        // A cut that leaves NULs behind what is added now must not find the old ones, too.
        if !mending.patches.isEmpty { try file.sync() }
        guard try file.status().st_size == status.st_size else { return false }
        return mending.added.isEmpty ? true : try append(mending.added, to: file)
    }

    /// pwrite(2) would append, too, as long as the file is open for that.
    private func write(_ patches: [ListPatch], over file: borrowing OpenFile) throws(IOError) {
        guard !patches.isEmpty else { return }
        let descriptor = file.descriptor
        let flags = fcntl(descriptor, F_GETFL)
        guard flags >= 0, fcntl(descriptor, F_SETFL, flags & ~O_APPEND) == 0 else {
            throw IOError("write", path, .last)
        }
        for patch in patches {
            let count = patch.bytes.withUnsafeBytes { bytes in
                retrying { pwrite(descriptor, bytes.baseAddress, bytes.count, off_t(patch.offset)) }
            }
            guard count == patch.bytes.count else { throw IOError("write", path, count < 0 ? .last : .ioError) }
        }
        guard fcntl(descriptor, F_SETFL, flags) == 0 else { throw IOError("write", path, .last) }
    }
}
