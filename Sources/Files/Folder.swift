package import Platform
package import SystemPackage

/// An open folder. What is below it is reached from its descriptor, by paths from it on (`relative`): no symbolic link
/// is followed anywhere in the path, and nothing leads out of it, even if others change the folders meanwhile.
///
/// The static functions take whole paths, for folders in a pipeline file that no one else can change.
package struct Folder: ~Copyable, Sendable {
    /// The folder's descriptor, for listing and for the `*at` calls.
    package let file: OpenFile

    package init(_ file: consuming OpenFile) { self.file = file }

    /// Opens a folder by its whole path; a symbolic link at the end is not followed.
    package static func open(_ path: FilePath) throws(IOError) -> Folder { Folder(try OpenFile.openFolder(path)) }

    /// Opens the parent folder of a path.
    package static func holding(_ path: FilePath) throws(IOError) -> Folder { try open(path.removingLastComponent()) }

    /// The path it was opened by, for messages.
    package var path: FilePath { file.path }

    // MARK: What is below it

    /// Opens a folder below it; an empty path opens the folder again.
    package func folder(_ relative: FilePath) throws(IOError) -> Folder {
        Folder(try OpenFile.openFolder(relative, below: file))
    }

    /// Opens an entry below it.
    package func open(_ relative: FilePath, _ flags: Int32, mode: mode_t = 0) throws(IOError) -> OpenFile {
        try OpenFile.open(relative, below: file, flags, mode: mode)
    }

    /// The metadata of an entry below it, without following a link; nil if it does not exist or cannot be reached.
    package func status(of relative: FilePath) throws(IOError) -> stat? {
        if relative.isEmpty { return try file.status() }
        do throws(IOError) {
            return try within(relative) { (parent, name) throws(IOError) in
                guard let status = FileStatus.of(name, in: parent) else {
                    throw IOError("examine", parent.path.appending(name), .last)
                }
                return status
            }
        } catch {
            guard [.noSuchFileOrDirectory, .notDirectory].contains(error.errno) else { throw error }
            return nil
        }
    }

    /// The kind of an entry below it; nil if there is none.
    package func kind(of relative: FilePath) throws(IOError) -> FileKind? {
        try status(of: relative).map { FileKind(mode: $0.st_mode) }
    }

    /// Calls the body with the parent folder of an entry below this one, and the entry's name.
    package func within<Result>(
        _ relative: FilePath, _ body: (borrowing OpenFile, FileName) throws(IOError) -> Result
    ) throws(IOError) -> Result {
        guard let name = relative.lastName else { throw IOError("reach", path.pushing(relative), .invalidArgument) }
        if relative.components.count == 1 { return try body(file, name) }
        return try body(try OpenFile.openFolder(relative.removingLastComponent(), below: file), name)
    }

    // MARK: Its entries

    /// Calls the body with every entry as readdir gives it: streaming, in no order, `.` and `..` left out.
    package func forEachEntry(_ body: (FileName, FileKind) throws(IOError) -> Void) throws(IOError) {
        try Self.forEachEntry(of: file, body)
    }

    /// All entries' names, in no order.
    package func names() throws(IOError) -> [FileName] { try Self.names(in: file) }

    /// The entries of a folder by its whole path.
    package static func forEachEntry(
        of path: FilePath, _ body: (FileName, FileKind) throws(IOError) -> Void
    ) throws(IOError) {
        try forEachEntry(ofDescriptor: try OpenFile.openFolder(path).release(), path, body)
    }

    /// The entries of a folder that is open. Its offset is moved.
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

    /// The names in a folder by its whole path, in no order.
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

    /// The kind of the entry at a path; nil if there is none, or if it cannot be examined.
    package static func kind(of path: FilePath, followingLinks: Bool = false) -> FileKind? {
        FileStatus.of(path, followingLinks: followingLinks).map { FileKind(mode: $0.st_mode) }
    }
}
