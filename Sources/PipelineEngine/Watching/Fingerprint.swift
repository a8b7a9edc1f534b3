import CLinux
import Glibc
package import PipelineKit
import SystemPackage

/// What tells one state of a file from another.
package struct Fingerprint: Hashable, Sendable {
    /// The device that holds it.
    package var device: UInt64
    /// Its inode.
    package var inode: UInt64
    /// Bytes.
    package var size: Int64
    /// Last change of the content, in nanoseconds; can be set by anybody.
    package var modified: Int64
    /// Last change of content or metadata, in nanoseconds; set by the kernel alone.
    package var changed: Int64

    /// A fingerprint.
    package init(device: UInt64, inode: UInt64, size: Int64, modified: Int64, changed: Int64) {
        self.device = device
        self.inode = inode
        self.size = size
        self.modified = modified
        self.changed = changed
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
    }
}

/// Whether some process has a file open for writing.
package enum OpenWriters: Sendable, Hashable {
    /// None has.
    case none
    /// At least one has.
    case some
    /// It cannot be told: no leases on this file system, or the file is somebody else's.
    case unknown
    /// Nobody asked.
    case notAsked

    /// Asks the kernel by a read lease on the descriptor.
    package static func probe(_ descriptor: Int32) -> OpenWriters {
        if dm_probe_read_lease(descriptor) == 0 { return .none }
        return Errno.last == .resourceTemporarilyUnavailable ? .some : .unknown
    }
}

/// What one look at a candidate found.
package enum Sample: Sendable, Hashable {
    /// A regular file.
    case file(Fingerprint, OpenWriters)
    /// Nothing of that name.
    case gone
    /// Something that is never taken; why.
    case refused(String)

    /// Looks at an entry of a folder. `writers`: also ask for open writers, which costs opening it.
    package static func take(
        of name: FileName, in folder: borrowing OpenFile, writers: Bool
    ) throws(IOError) -> Sample {
        if !writers {
            var status = stat()
            let descriptor = folder.descriptor
            guard name.withCString({ fstatat(descriptor, $0, &status, AT_SYMLINK_NOFOLLOW) }) == 0 else {
                return try missing(.last, name, folder)
            }
            return of(status, .notAsked)
        }
        do throws(IOError) {
            // O_NONBLOCK: opening a FIFO would block for ever otherwise.
            let file = try OpenFile.open(name, in: folder, O_RDONLY | O_NONBLOCK)
            let status = try file.status()
            return of(status, OpenWriters.probe(file.descriptor))
        } catch {
            switch error.errno {
            case .noSuchFileOrDirectory, .tooManySymbolicLinkLevels, .noSuchAddressOrDevice, .permissionDenied:
                // Not readable is no reason to wait: the stage that reads it says what is wrong.
                guard case .file(let fingerprint, _) = try take(of: name, in: folder, writers: false) else {
                    return try take(of: name, in: folder, writers: false)
                }
                return .file(fingerprint, .unknown)
            default: throw error
            }
        }
    }

    private static func missing(
        _ errno: Errno, _ name: FileName, _ folder: borrowing OpenFile
    ) throws(IOError) -> Sample {
        guard errno == .noSuchFileOrDirectory else { throw IOError("examine", folder.path.appending(name), errno) }
        return .gone
    }

    private static func of(_ status: stat, _ writers: OpenWriters) -> Sample {
        switch FileKind(mode: status.st_mode) {
        case .regular: .file(Fingerprint(status), writers)
        case .folder: .refused("a folder; only files are taken here")
        case .symbolicLink: .refused("a symbolic link; put the file itself here")
        default: .refused("a device, FIFO or socket")
        }
    }
}
