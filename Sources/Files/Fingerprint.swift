package import Platform

/// Identifies one state of a file, or of a folder with all its contents.
package struct Fingerprint: Hashable, Sendable {
    /// The device that holds it.
    package var device: UInt64
    /// Its inode.
    package var inode: UInt64
    /// Bytes; for a folder, of all its files.
    package var size: Int64
    /// Last change of the content (mtime); anyone can set it. For a folder: the newest of all.
    package var modified: FileTime
    /// Last change of content or metadata (ctime); only the kernel sets it. For a folder: the newest of all.
    package var changed: FileTime
    /// For a folder: a hash of the paths, inodes, sizes and times of its contents, valid in this process; else 0.
    package var listing: Int

    package init(device: UInt64, inode: UInt64, size: Int64, modified: FileTime, changed: FileTime, listing: Int = 0) {
        self.device = device
        self.inode = inode
        self.size = size
        self.modified = modified
        self.changed = changed
        self.listing = listing
    }

    package init(_ status: stat) {
        self.init(
            device: UInt64(truncatingIfNeeded: status.st_dev), inode: UInt64(status.st_ino),
            size: max(0, Int64(status.st_size)),
            modified: FileTime(status.st_mtim), changed: FileTime(status.st_ctim))
    }

    /// For something that cannot be examined.
    package static func unknown(at time: Timestamp = .now()) -> Fingerprint {
        let (seconds, nanoseconds) = time.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        let now = FileTime(seconds: Int(seconds), nanoseconds: Int(nanoseconds))
        return Fingerprint(device: 0, inode: 0, size: 0, modified: now, changed: now)
    }

    /// Whether the content is the same, ignoring `changed`, which a rename updates.
    package func sameContent(as other: Fingerprint) -> Bool {
        device == other.device && inode == other.inode && size == other.size && modified == other.modified
            && listing == other.listing
    }

    /// The identity of its file or folder.
    package var identity: FileIdentity { FileIdentity(device: device, inode: inode) }
}

extension FileTime {
    package init(_ time: timespec) { self.init(seconds: time.tv_sec, nanoseconds: time.tv_nsec) }
}
