import CLinux
package import Files
import Glibc
package import SystemPackage

/// Copies, for targets that a rename cannot reach: another file system, or another mount of the same one.
package enum Transfer {
    /// Copies a regular file with its rights and times; the target must not exist. Shares blocks where the file system
    /// can, else copies within the kernel, else through memory (copy_file_range(2) refuses some pairs of file systems).
    /// Holes stay holes.
    ///
    /// `sharing: false` copies through memory only, so that the copy shares no blocks with the source.
    /// `isStopped` is polled; if it returns true, the error is `canceled`.
    package static func copyFile(
        _ source: FilePath, in folder: borrowing Folder, to target: FilePath, in other: borrowing Folder,
        sharing: Bool = true, closed: Bool = false, isStopped: () -> Bool = { false }
    ) throws(IOError) {
        let from = try folder.open(source, O_RDONLY | O_NONBLOCK)
        guard FileKind(mode: try from.status().st_mode) == .regular else {
            throw IOError("copy", from.path, .invalidArgument)
        }
        let to = try other.open(target, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
        try copyFile(from, to: to, sharing: sharing, closed: closed, isStopped: isStopped)
        try to.close()
    }

    /// The same between two files that are open, the target for writing and empty.
    package static func copyFile(
        _ from: borrowing OpenFile, to: borrowing OpenFile, sharing: Bool = true, closed: Bool = false,
        isStopped: () -> Bool = { false }
    ) throws(IOError) {
        let status = try from.status()
        guard FileKind(mode: status.st_mode) == .regular else { throw IOError("copy", from.path, .invalidArgument) }
        try copyContent(from, status, to, sharing: sharing, isStopped)
        if !closed { try copyMetadata(status, to) }
    }

    /// Copies a file, link or folder with all its contents; the target must not exist. A FIFO, socket or device is
    /// recreated.
    ///
    /// `closed`: no one else can open the copy until `finish` gives it its owner and permissions.
    package static func copy(
        _ source: FilePath, in folder: borrowing Folder, to target: FilePath, in other: borrowing Folder,
        closed: Bool = false, isStopped: () -> Bool = { false }
    ) throws(IOError) {
        // A sender who can still change the tree could deepen it during the copy until the stack overflows.
        guard target.components.count <= deepest else {
            throw IOError("copy", folder.path.pushing(source), .fileNameTooLong)
        }
        guard let status = try folder.status(of: source) else {
            throw IOError("copy", folder.path.pushing(source), .noSuchFileOrDirectory)
        }
        switch FileKind(mode: status.st_mode) {
        case .folder:
            try other.makeNew(target, mode: 0o700)
            for name in try folder.folder(source).names() {
                try copy(
                    source.appending(name), in: folder, to: target.appending(name), in: other, isStopped: isStopped)
            }
            if !closed { try copyMetadata(status, try other.open(target, O_RDONLY | O_DIRECTORY)) }
        case .symbolicLink:
            guard let text = try folder.target(ofLink: source) else {
                throw IOError("read the link", folder.path.pushing(source), .noSuchFileOrDirectory)
            }
            try other.makeLink(target, to: text)
        // Special files have no content, and opening one could block forever.
        case .special: try other.makeSpecial(target, like: status)
        default: try copyFile(source, in: folder, to: target, in: other, closed: closed, isStopped: isStopped)
        }
    }

    /// Gives a copy that is closed the owner, rights and times of what it was copied from, and waits for the disk if
    /// asked to.
    package static func finish(
        _ copy: FilePath, in other: borrowing Folder, like source: FilePath, in folder: borrowing Folder, syncing: Bool
    ) throws(IOError) {
        guard let status = try folder.status(of: source),
            [.folder, .regular].contains(FileKind(mode: status.st_mode))
        else { return }
        let opened = try other.open(copy, O_RDONLY | O_NONBLOCK)
        try copyMetadata(status, opened)
        if syncing { try opened.sync() }
    }

    /// The most nested folders that are copied.
    private static let deepest = 512

    /// Gives a folder the owner (where that is allowed), rights and times of the one that it was made after. The owner
    /// may always change it: a later stage may have to.
    package static func copyFolderMetadata(
        _ source: FilePath, in folder: borrowing Folder, to target: FilePath, in other: borrowing Folder
    ) throws(IOError) {
        var status = try folder.open(source, O_RDONLY | O_DIRECTORY).status()
        status.st_mode |= S_IRWXU
        try copyMetadata(status, try other.open(target, O_RDONLY | O_DIRECTORY))
    }

    // MARK: Content

    /// lseek(2); constants that Swift is not shown without _GNU_SOURCE.
    static let seekData: Int32 = 3, seekHole: Int32 = 4

    private static func copyContent(
        _ from: borrowing OpenFile, _ status: stat, _ to: borrowing OpenFile, sharing: Bool, _ isStopped: () -> Bool
    ) throws(IOError) {
        if sharing, dm_clone(from.descriptor, to.descriptor) == 0 { return }
        let size = status.st_size
        var mayCopyInKernel = sharing
        var offset: off_t = 0
        while offset < size {
            let data = lseek(from.descriptor, offset, seekData)
            // ENXIO: a hole up to the end; other errors: a file system that knows no holes.
            if data < 0, Errno.last == .noSuchAddressOrDevice { break }
            let start = max(data, offset)
            let hole = data < 0 ? size : lseek(from.descriptor, start, seekHole)
            let end = hole < 0 ? size : min(hole, size)
            guard end > start else { break }
            lseek(from.descriptor, start, SEEK_SET)
            lseek(to.descriptor, start, SEEK_SET)
            var rest = end - start
            if mayCopyInKernel { mayCopyInKernel = try copyInKernel(from, to, &rest, isStopped) }
            if !mayCopyInKernel { try copyThroughMemory(from, to, rest, isStopped) }
            offset = end
        }
        guard ftruncate(to.descriptor, size) == 0 else { throw IOError("write", to.path, .last) }
    }

    /// Copies from where both files stand; false where the kernel does not copy between these two, with what is left.
    private static func copyInKernel(
        _ from: borrowing OpenFile, _ to: borrowing OpenFile, _ rest: inout off_t, _ isStopped: () -> Bool
    ) throws(IOError) -> Bool {
        while rest > 0 {
            if isStopped() { throw IOError("copy", to.path, .canceled) }
            let count = dm_copy_range(from.descriptor, to.descriptor, min(Int(rest), 64 << 20))
            if count > 0 {
                rest -= off_t(count)
                continue
            }
            // Some file systems return 0 at once instead of an error.
            if count == 0 { return false }
            switch Errno.last {
            case .interrupted: continue
            case .improperLink, .invalidArgument, .noFunction, .notSupportedOnSocket, .badFileDescriptor, .notSupported:
                return false
            case let error: throw IOError("copy", to.path, error)
            }
        }
        return true
    }

    /// Copies so many bytes from where both files stand, or up to the source's end.
    private static func copyThroughMemory(
        _ from: borrowing OpenFile, _ to: borrowing OpenFile, _ count: off_t, _ isStopped: () -> Bool
    ) throws(IOError) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { buffer.deallocate() }
        var rest = Int(count)
        while rest > 0 {
            if isStopped() { throw IOError("copy", to.path, .canceled) }
            let part = UnsafeMutableRawBufferPointer(rebasing: buffer[..<min(rest, buffer.count)])
            let read = try from.read(into: part)
            if read == 0 { return }
            try to.write(UnsafeRawBufferPointer(rebasing: part[..<read]))
            rest -= read
        }
    }

    // MARK: Metadata

    private static func copyMetadata(_ status: stat, _ target: borrowing OpenFile) throws(IOError) {
        // The owner is copied if that is allowed; for an ordinary user it is not, and the copy is ours. Rights to
        // run as its owner or group (set-id bits) are never copied.
        _ = fchown(target.descriptor, status.st_uid, status.st_gid)
        guard fchmod(target.descriptor, status.st_mode & 0o777) == 0 else {
            throw IOError("set the mode of", target.path, .last)
        }
        let times = [status.st_atim, status.st_mtim]
        guard futimens(target.descriptor, times) == 0 else { throw IOError("set the times of", target.path, .last) }
    }
}

extension Folder {
    fileprivate func makeNew(_ relative: FilePath, mode: mode_t) throws(IOError) {
        try within(relative) { (parent, name) throws(IOError) in
            let made = name.withCString { mkdirat(parent.descriptor, $0, mode) }
            guard made != 0 else { return }
            let error = Errno.last
            // It was created anyway: no one else creates any in a copy.
            guard try Self.isEmpty(name, in: parent) else {
                throw IOError("create the folder", parent.path.appending(name), error)
            }
        }
    }

    private static func isEmpty(_ name: FileName, in parent: borrowing OpenFile) throws(IOError) -> Bool {
        do throws(IOError) {
            return try names(in: try OpenFile.open(name, in: parent, O_RDONLY | O_DIRECTORY)).isEmpty
        } catch {
            guard error.errno == .noSuchFileOrDirectory || error.errno == .notDirectory else { throw error }
            return false
        }
    }

    fileprivate func makeSpecial(_ relative: FilePath, like status: stat) throws(IOError) {
        try within(relative) { (parent, name) throws(IOError) in
            let made = name.withCString { mknodat(parent.descriptor, $0, status.st_mode & ~0o7000, status.st_rdev) }
            guard made == 0 else { throw IOError("create", parent.path.appending(name), .last) }
        }
    }
}
