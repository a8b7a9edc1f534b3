package import Platform
package import SystemPackage

/// stat(2) for callers that treat an error like a missing file.
package enum FileStatus {
    /// Of a path.
    package static func of(_ path: FilePath, followingLinks: Bool = false) -> stat? {
        var status = stat()
        let flags = followingLinks ? 0 : AT_SYMLINK_NOFOLLOW
        return path.withPlatformString { fstatat(AT_FDCWD, $0, &status, flags) } == 0 ? status : nil
    }

    /// Of a name in an open folder; a link is not followed. `errno` says why it is nil.
    package static func of(_ name: FileName, in folder: borrowing OpenFile) -> stat? {
        var status = stat()
        let descriptor = folder.descriptor
        return name.withCString { fstatat(descriptor, $0, &status, AT_SYMLINK_NOFOLLOW) } == 0 ? status : nil
    }
}
