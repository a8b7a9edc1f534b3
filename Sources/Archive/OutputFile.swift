import Glibc
import SystemPackage

/// A file that is being extracted. Closed when it goes; `finish` makes sure that all went well.
struct OutputFile: ~Copyable {
    private var descriptor: Int32
    private let entry: [UInt8]
    /// Where the data written so far ends.
    private var end: Int64 = 0

    private init(descriptor: Int32, entry: [UInt8]) {
        self.descriptor = descriptor
        self.entry = entry
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Makes a new file that only its owner sees until it is whole. A regular file of the same name is replaced, as tar
    /// does it: removed, not overwritten, so that other names of it keep what they had.
    static func create(
        _ name: EntryPath.Component, in folder: Int32, for entry: [UInt8]
    ) throws(ArchiveError) -> OutputFile {
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        var descriptor = openat(folder, name, flags, 0o600)
        if descriptor < 0, errno == EEXIST {
            var status = stat()
            guard fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0, status.st_mode & S_IFMT == S_IFREG else {
                throw .conflict(entry, "is a file and a folder at once")
            }
            guard unlinkat(folder, name, 0) == 0 else {
                throw .system(action: "replace", entry: entry, errno: Errno(rawValue: errno))
            }
            descriptor = openat(folder, name, flags, 0o600)
        }
        guard descriptor >= 0 else { throw .system(action: "create", entry: entry, errno: Errno(rawValue: errno)) }
        return OutputFile(descriptor: descriptor, entry: entry)
    }

    /// Opens a file that was extracted before, to give it new content.
    static func reopen(
        _ name: EntryPath.Component, in folder: Int32, for entry: [UInt8]
    ) throws(ArchiveError) -> OutputFile {
        let descriptor = openat(folder, name, O_WRONLY | O_TRUNC | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system(action: "open", entry: entry, errno: Errno(rawValue: errno)) }
        return OutputFile(descriptor: descriptor, entry: entry)
    }

    /// Writes a block to its place; what lies between blocks stays a hole.
    mutating func write(_ block: UnsafeRawBufferPointer, at offset: Int64) throws(ArchiveError) {
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
        end = max(end, offset + Int64(block.count))
    }

    /// Gives the file its length (a hole may end it), mode and time, and closes it.
    consuming func finish(length: Int64, mode: mode_t, modified: timespec?) throws(ArchiveError) {
        if length > end, ftruncate(descriptor, off_t(length)) != 0 {
            throw .system(action: "write", entry: entry, errno: Errno(rawValue: errno))
        }
        try FileAttributes.set(on: descriptor, mode: mode, modified: modified, entry: entry)
        let closing = descriptor
        descriptor = -1
        if close(closing) != 0, errno != EINTR {
            throw .system(action: "close", entry: entry, errno: Errno(rawValue: errno))
        }
    }
}

/// What is kept of an entry beside its content.
enum FileAttributes {
    /// Sets the mode's permission bits and the time of the last change. The owner always keeps the right to read, and
    /// in folders to work: else the files could not be handed on.
    static func set(
        on descriptor: Int32, mode: mode_t, modified: timespec?, isFolder: Bool = false, entry: [UInt8]
    ) throws(ArchiveError) {
        guard fchmod(descriptor, mode & 0o777 | (isFolder ? 0o700 : 0o400)) == 0 else {
            throw .system(action: "set the mode of", entry: entry, errno: Errno(rawValue: errno))
        }
        guard let modified else { return }
        // A time that the file system cannot hold is cut to what it can (utimensat(2)).
        guard futimens(descriptor, times(modified)) == 0 else {
            throw .system(action: "set the time of", entry: entry, errno: Errno(rawValue: errno))
        }
    }

    /// The pair that utimensat(2) takes: no change for the time of the last access.
    static func times(_ modified: timespec) -> [timespec] {
        [timespec(tv_sec: 0, tv_nsec: (1 << 30) - 2), modified]
    }
}
