package import Files
import Platform
public import SystemPackage

/// What a folder holds under one name, as it was last seen.
public struct FolderEntry: Sendable, Hashable {
    /// What something in a folder is. There may be more cases one day.
    public enum Kind: Sendable, Hashable {
        /// A regular file.
        case file
        /// A folder. Its size and times are 0 here: they change with what is in it, which is not reported.
        case folder
        /// A symbolic link, which is not followed.
        case link
        /// A device, FIFO or socket.
        case special
        /// It may not be examined; its size and times are 0.
        case unknown
    }

    /// The name's bytes, which need not be UTF-8.
    package let fileName: FileName
    /// What it is.
    public let kind: Kind
    /// Bytes (st_size).
    public let size: Int64
    /// Its last change of content, since 1970-01-01T00:00:00Z (mtime). Anyone can set it, to any 64 bits of seconds.
    public let modified: Duration
    /// Its last change of content or metadata, since 1970-01-01T00:00:00Z (ctime).
    public let changed: Duration
    /// Its inode's number (st_ino): another file of the same name has another one.
    public let inode: UInt64

    /// The name.
    public var name: FilePath.Component {
        FilePath(bytes: fileName.bytes).lastComponent ?? "."
    }

    init(_ name: FileName, _ status: stat) {
        fileName = name
        kind =
            switch FileKind(mode: status.st_mode) {
            case .regular: .file
            case .folder: .folder
            case .symbolicLink: .link
            case .special, .unknown: .special
            }
        let seen = Fingerprint(status)
        let hasTimes = kind != .folder
        size = hasTimes ? seen.size : 0
        modified = hasTimes ? Duration(seen.modified) : .zero
        changed = hasTimes ? Duration(seen.changed) : .zero
        inode = seen.inode
    }

    /// One that may not be examined.
    init(unknown name: FileName) {
        fileName = name
        kind = .unknown
        (size, modified, changed, inode) = (0, .zero, .zero, 0)
    }
}

extension FolderEntry: CustomStringConvertible {
    /// The name as text that is safe to print: what is not printable UTF-8 is escaped as `\xNN`.
    public var description: String { fileName.text }
}

extension Duration {
    /// What a file's time says, since the epoch: it has room for any 64 bits of seconds.
    fileprivate init(_ time: FileTime) { self = .seconds(time.seconds) + .nanoseconds(Int64(time.nanoseconds)) }
}

extension Sequence<FolderEntry> {
    /// In the order of their names' bytes.
    var sortedByName: [FolderEntry] { sorted { $0.fileName < $1.fileName } }
}
