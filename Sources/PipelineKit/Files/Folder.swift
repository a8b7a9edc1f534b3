package import Glibc
package import SystemPackage

/// What an entry of a folder is, as far as it matters here.
package enum FileKind: Sendable, Equatable {
    case regular, folder, symbolicLink
    /// Device, FIFO or socket.
    case special
    /// The file system did not say (some network and old file systems): examine it.
    case unknown

    /// From `d_type` of readdir(3).
    package init(directoryType: UInt8) {
        switch Int32(directoryType) {
        case Int32(DT_REG): self = .regular
        case Int32(DT_DIR): self = .folder
        case Int32(DT_LNK): self = .symbolicLink
        case Int32(DT_UNKNOWN): self = .unknown
        default: self = .special
        }
    }

    /// From `st_mode` of stat(2).
    package init(mode: mode_t) {
        switch mode & S_IFMT {
        case S_IFREG: self = .regular
        case S_IFDIR: self = .folder
        case S_IFLNK: self = .symbolicLink
        default: self = .special
        }
    }
}

/// What is done to folders as a whole, by names as bytes and without following symbolic links.
package enum Folder {
    /// Calls the body with every entry as readdir gives it: streaming, in no order, `.` and `..` left out.
    package static func forEachEntry(
        of path: FilePath, _ body: (FileName, FileKind) throws(IOError) -> Void
    ) throws(IOError) {
        try forEachEntry(ofDescriptor: try OpenFile.openFolder(path).release(), path, body)
    }

    /// The same for a folder that is open. Its offset is moved.
    package static func forEachEntry(
        of folder: borrowing OpenFile, _ body: (FileName, FileKind) throws(IOError) -> Void
    ) throws(IOError) {
        let copy = fcntl(folder.descriptor, F_DUPFD_CLOEXEC, 3)
        guard copy >= 0 else { throw IOError("list", folder.path, .last) }
        lseek(copy, 0, SEEK_SET)
        try forEachEntry(ofDescriptor: copy, folder.path, body)
    }

    /// Lists an open folder from where its offset is, and closes it.
    private static func forEachEntry(
        ofDescriptor descriptor: Int32, _ path: FilePath, _ body: (FileName, FileKind) throws(IOError) -> Void
    ) throws(IOError) {
        guard let stream = fdopendir(descriptor) else {
            let error = Errno.last
            close(descriptor)
            throw IOError("list", path, error)
        }
        defer { closedir(stream) }
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                if errno != 0 { throw IOError("list", path, .last) }
                return
            }
            let kind = FileKind(directoryType: entry.pointee.d_type)
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: FileName.longest + 1) { FileName(cString: $0) }
            }
            if let name { try body(name, kind) }
        }
    }

    /// All entries' names, in no order.
    package static func names(in path: FilePath) throws(IOError) -> [FileName] {
        var names: [FileName] = []
        try forEachEntry(of: path) { (name, _) throws(IOError) in names.append(name) }
        return names
    }

    /// The same for a folder that is open.
    package static func names(in folder: borrowing OpenFile) throws(IOError) -> [FileName] {
        var names: [FileName] = []
        try forEachEntry(of: folder) { (name, _) throws(IOError) in names.append(name) }
        return names
    }

    /// Makes the folder and those above it that are missing; one that is there is left as it is. Returns whether it was
    /// made.
    @discardableResult
    package static func make(_ path: FilePath, mode: mode_t = 0o777) throws(IOError) -> Bool {
        if path.withPlatformString({ mkdir($0, mode) }) == 0 { return true }
        switch Errno.last {
        case .fileExists:
            guard kind(of: path, followingLinks: true) == .folder else {
                throw IOError("create the folder", path, .notDirectory)
            }
            return false
        case .noSuchFileOrDirectory:
            let parent = path.removingLastComponent()
            guard parent != path, !parent.isEmpty else {
                throw IOError("create the folder", path, .noSuchFileOrDirectory)
            }
            try make(parent, mode: 0o777)
            guard path.withPlatformString({ mkdir($0, mode) }) == 0 || Errno.last == .fileExists else {
                throw IOError("create the folder", path, .last)
            }
            return true
        case let error: throw IOError("create the folder", path, error)
        }
    }

    /// Makes the folder, emptied if it was there; the one above it must exist.
    package static func makeClean(_ path: FilePath, mode: mode_t) throws(IOError) {
        if path.withPlatformString({ mkdir($0, mode) }) == 0 { return }
        guard Errno.last == .fileExists else { throw IOError("create the folder", path, .last) }
        try remove(path)
        guard path.withPlatformString({ mkdir($0, mode) }) == 0 else { throw IOError("create the folder", path, .last) }
    }

    /// What there is at the path, or nil for nothing (or nothing that can be seen).
    package static func kind(of path: FilePath, followingLinks: Bool = false) -> FileKind? {
        var status = stat()
        let flags = followingLinks ? 0 : AT_SYMLINK_NOFOLLOW
        guard path.withPlatformString({ fstatat(AT_FDCWD, $0, &status, flags) }) == 0 else { return nil }
        return FileKind(mode: status.st_mode)
    }
}
