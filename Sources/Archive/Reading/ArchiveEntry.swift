import CArchive
import Glibc

/// One entry of an archive, as its header describes it.
struct ArchiveEntry: Sendable {
    enum Kind: Sendable, Equatable {
        case file
        case folder
        /// With its target's bytes.
        case symbolicLink([UInt8])
        /// With the name of the entry that it is another name of.
        case hardLink([UInt8])
        /// Device, FIFO or socket; with the word for it.
        case special(String)

        /// Whether it is a link of either kind.
        var isLink: Bool {
            switch self {
            case .symbolicLink, .hardLink: true
            case .file, .folder, .special: false
            }
        }
    }

    /// Its path, as it was stored: not yet known to be harmless.
    let path: [UInt8]
    let kind: Kind
    /// All of its mode bits but the type.
    let mode: mode_t
    /// The bytes it will have, holes included; nil where the header does not say.
    let size: Int64?
    /// When its content was last changed; nil where the header does not say.
    let modified: timespec?
    /// Whether it needs a password.
    let isEncrypted: Bool

    /// From a header that has just been read; nil where the path or a link's target is missing or could not be
    /// converted.
    init?(_ entry: OpaquePointer) {
        guard let path = Self.bytes(libarchive.archive_entry_pathname(entry)) else { return nil }
        self.path = path
        let type = libarchive.archive_entry_filetype(entry)
        if let target = libarchive.archive_entry_hardlink(entry) {
            guard let target = Self.bytes(target) else { return nil }
            kind = .hardLink(target)
        } else {
            switch type {
            // ar(1) records no type, and knows but one.
            case S_IFREG, 0: kind = .file
            case S_IFDIR: kind = .folder
            case S_IFLNK:
                guard let target = Self.bytes(libarchive.archive_entry_symlink(entry)) else { return nil }
                kind = .symbolicLink(target)
            case S_IFIFO: kind = .special("a named pipe")
            case S_IFSOCK: kind = .special("a socket")
            case S_IFCHR, S_IFBLK: kind = .special("a device")
            default: kind = .special("of an unknown type")
            }
        }
        mode = libarchive.archive_entry_mode(entry) & 0o7777
        size = libarchive.archive_entry_size_is_set(entry) != 0 ? libarchive.archive_entry_size(entry) : nil
        if libarchive.archive_entry_mtime_is_set(entry) != 0 {
            let nanoseconds = libarchive.archive_entry_mtime_nsec(entry)
            modified = timespec(
                tv_sec: libarchive.archive_entry_mtime(entry),
                tv_nsec: (0..<1_000_000_000).contains(nanoseconds) ? nanoseconds : 0
            )
        } else {
            modified = nil
        }
        isEncrypted = libarchive.archive_entry_is_encrypted(entry) != 0
    }

    private static func bytes(_ text: UnsafePointer<CChar>?) -> [UInt8]? {
        guard let text else { return nil }
        return Array(UnsafeRawBufferPointer(start: text, count: strlen(text)))
    }
}
