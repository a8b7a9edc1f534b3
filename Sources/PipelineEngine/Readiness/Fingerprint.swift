import Glibc

/// What tells one state of a file, or of a folder with all it holds, from another.
package struct Fingerprint: Hashable, Sendable {
    /// The device that holds it.
    package var device: UInt64
    /// Its inode.
    package var inode: UInt64
    /// Bytes; of a folder: those of all its files.
    package var size: Int64
    /// Last change of the content, in nanoseconds; can be set by anybody. Of a folder: the newest of all.
    package var modified: Int64
    /// Last change of content or metadata, in nanoseconds; set by the kernel alone. Of a folder: the newest of all.
    package var changed: Int64
    /// Of a folder: a hash over the paths, inodes, sizes and times of all it holds, valid in this process; else 0.
    package var listing: Int

    /// A fingerprint.
    package init(device: UInt64, inode: UInt64, size: Int64, modified: Int64, changed: Int64, listing: Int = 0) {
        self.device = device
        self.inode = inode
        self.size = size
        self.modified = modified
        self.changed = changed
        self.listing = listing
    }

    init(_ status: stat) {
        self.init(
            device: UInt64(status.st_dev), inode: UInt64(status.st_ino), size: Int64(status.st_size),
            modified: Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec),
            changed: Int64(status.st_ctim.tv_sec) * 1_000_000_000 + Int64(status.st_ctim.tv_nsec))
    }

    /// Whether the content is the same as far as can be seen after a rename, which changes `changed`.
    package func sameContent(as other: Fingerprint) -> Bool {
        device == other.device && inode == other.inode && size == other.size && modified == other.modified
            && listing == other.listing
    }

    /// Which file or folder it is of.
    package var identity: FileIdentity { FileIdentity(device: device, inode: inode) }
}
