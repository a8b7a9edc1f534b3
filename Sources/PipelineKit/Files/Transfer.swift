import CLinux
import Glibc
package import SystemPackage

/// Copies, for where a rename cannot reach: another file system, or another mount of the same one.
package enum Transfer {
    /// Copies a regular file with its mode and times; the target must not exist. Shares blocks where the file system
    /// can, else copies within the kernel, else through memory (copy_file_range(2) refuses some pairs of file systems).
    ///
    /// `sharing: false` goes through memory only, so that the copy has nothing of the source's but what it reads like.
    /// `isStopped` is asked now and then; once it says so, the error is `canceled`.
    package static func copyFile(
        _ source: FilePath, to target: FilePath, sharing: Bool = true, isStopped: () -> Bool = { false }
    ) throws(IOError) {
        let from = try OpenFile.open(source, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        let status = try from.status()
        guard FileKind(mode: status.st_mode) == .regular else { throw IOError("copy", source, .invalidArgument) }
        let to = try OpenFile.open(target, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
        if !sharing {
            try copyThroughMemory(from, to, isStopped)
        } else if dm_clone(from.descriptor, to.descriptor) != 0,
            try !copyInKernel(from, to, size: Int64(status.st_size), isStopped)
        {
            try copyThroughMemory(from, to, isStopped)
        }
        try copyMetadata(status, to)
        try to.close()
    }

    /// Copies a file, link or folder with all it holds; the target must not exist. A FIFO, socket or device is made
    /// anew.
    package static func copy(
        _ source: FilePath, to target: FilePath, isStopped: () -> Bool = { false }
    ) throws(IOError) {
        switch Folder.kind(of: source) {
        case nil: throw IOError("copy", source, .noSuchFileOrDirectory)
        case .folder:
            guard target.withPlatformString({ mkdir($0, 0o700) }) == 0 else {
                throw IOError("create the folder", target, .last)
            }
            try Folder.forEachEntry(of: source) { (name, _) throws(IOError) in
                try copy(source.appending(name), to: target.appending(name), isStopped: isStopped)
            }
            let folder = try OpenFile.openFolder(target)
            try copyMetadata(try OpenFile.openFolder(source).status(), folder)
        case .symbolicLink: try copyLink(source, to: target)
        case .special: try copySpecial(source, to: target)
        default: try copyFile(source, to: target, isStopped: isStopped)
        }
    }

    /// What is no file has no content; opening it could wait for ever.
    private static func copySpecial(_ source: FilePath, to target: FilePath) throws(IOError) {
        var status = stat()
        guard source.withPlatformString({ lstat($0, &status) }) == 0 else { throw IOError("examine", source, .last) }
        guard target.withPlatformString({ mknod($0, status.st_mode, status.st_rdev) }) == 0 else {
            throw IOError("create", target, .last)
        }
    }

    /// Gives a folder the owner (where that is allowed), mode and times of another.
    package static func copyFolderMetadata(_ source: FilePath, to target: FilePath) throws(IOError) {
        try copyMetadata(try OpenFile.openFolder(source).status(), try OpenFile.openFolder(target))
    }

    /// False where the kernel does not copy between these two; then nothing is copied.
    private static func copyInKernel(
        _ from: borrowing OpenFile, _ to: borrowing OpenFile, size: Int64, _ isStopped: () -> Bool
    ) throws(IOError) -> Bool {
        var copied: Int64 = 0
        while true {
            if isStopped() { throw IOError("copy", to.path, .canceled) }
            let count = dm_copy_range(from.descriptor, to.descriptor, 64 << 20)
            if count > 0 {
                copied += Int64(count)
                continue
            }
            // Some file systems say 0 at once instead of refusing.
            if count == 0 { return copied >= size }
            switch Errno.last {
            case .interrupted: continue
            case .improperLink, .invalidArgument, .noFunction, .notSupportedOnSocket, .badFileDescriptor, .notSupported:
                guard copied == 0 else { throw IOError("copy", to.path, .last) }
                return false
            case let error: throw IOError("copy", to.path, error)
            }
        }
    }

    /// Copies from where both files stand to the source's end.
    private static func copyThroughMemory(
        _ from: borrowing OpenFile, _ to: borrowing OpenFile, _ isStopped: () -> Bool
    ) throws(IOError) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { buffer.deallocate() }
        while true {
            if isStopped() { throw IOError("copy", to.path, .canceled) }
            let count = try from.read(into: buffer)
            if count == 0 { return }
            try to.write(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
    }

    private static func copyMetadata(_ status: stat, _ target: borrowing OpenFile) throws(IOError) {
        // The owner goes along where that is allowed; as an ordinary user it is not, and the copy is ours.
        // Rights that its owner gave (set-uid) must not become rights of ours.
        let keepsOwner = fchown(target.descriptor, status.st_uid, status.st_gid) == 0
        guard fchmod(target.descriptor, status.st_mode & (keepsOwner ? 0o7777 : 0o777)) == 0 else {
            throw IOError("set the mode of", target.path, .last)
        }
        let times = [status.st_atim, status.st_mtim]
        guard futimens(target.descriptor, times) == 0 else { throw IOError("set the times of", target.path, .last) }
    }

    private static func copyLink(_ source: FilePath, to copy: FilePath) throws(IOError) {
        let link = try target(of: source)
        guard copy.withPlatformString({ path in link.withPlatformString { symlink($0, path) } }) == 0 else {
            throw IOError("create the link", copy, .last)
        }
    }

    /// What a symbolic link says.
    package static func target(of link: FilePath) throws(IOError) -> FilePath {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        let count = link.withPlatformString { readlink($0, &buffer, Int(PATH_MAX)) }
        guard count >= 0 else { throw IOError("read the link", link, .last) }
        return FilePath(bytes: buffer[..<count].map { UInt8(bitPattern: $0) })
    }
}
