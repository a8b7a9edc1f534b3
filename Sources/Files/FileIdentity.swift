import SystemPackage

/// Which inode a file is.
package struct FileIdentity: Sendable, Hashable, Codable {
    /// The device's number (st_dev).
    package var device: UInt64
    /// The inode's number (st_ino).
    package var inode: UInt64

    /// The identity of no file.
    package static let unknown = FileIdentity(device: 0, inode: 0)

    package init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }
}
