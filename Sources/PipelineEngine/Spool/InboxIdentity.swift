import CLinux
import Files
import Glibc
import SystemPackage

/// Which folder an inbox is. Its inode's number alone does not tell: the root of every disk has the same one.
struct InboxIdentity {
    let folder: FileIdentity
    /// A number that the file system keeps over mounts; 0 for one that has none.
    let fileSystem: UInt64
    private let mount: Int64

    /// That of what the path leads to; nil where there is nothing.
    init?(of inbox: FilePath) {
        guard let folder = FileIdentity.of(inbox, followingLinks: true) else { return nil }
        self.folder = folder
        fileSystem = Self.fileSystem(of: inbox)
        mount = inbox.withPlatformString { dm_mount_id($0) }
    }

    /// Whether it is the one that it was earlier in this process. Without a number of its own a file system is not
    /// recognized after it is mounted again.
    func isSame(as other: InboxIdentity) -> Bool {
        guard folder.inode == other.folder.inode, fileSystem == other.fileSystem else { return false }
        return fileSystem != 0 || folder == other.folder && mount == other.mount
    }

    /// f_fsid of statvfs(3) comes of a UUID in ext4, btrfs and tmpfs. With nothing in its upper half it is a device's
    /// number, as of XFS, which has a UUID to be asked for (Linux 6.9).
    private static func fileSystem(of path: FilePath) -> UInt64 {
        var info = statvfs()
        guard path.withPlatformString({ statvfs($0, &info) }) == 0 else { return 0 }
        // As the journal's numbers are signed.
        if info.f_fsid >> 32 != 0 { return UInt64(info.f_fsid) & UInt64(Int64.max) }
        // Its length, then its bytes.
        var answer = [UInt8](repeating: 0, count: 17)
        do throws(IOError) {
            let folder = try OpenFile.open(path, O_RDONLY | O_DIRECTORY)
            let asked = answer.withUnsafeMutableBytes { bytes in
                bytes.baseAddress.map { ioctl(folder.descriptor, getUUID, $0) }
            }
            guard asked == 0 else { return 0 }
        } catch {
            return 0
        }
        return answer.dropFirst().prefix(8).reduce(0) { $0 << 8 | UInt64($1) } & UInt64(Int64.max)
    }

    /// FS_IOC_GETFSUUID of linux/fs.h.
    private static let getUUID: UInt = 0x8011_1500
}
