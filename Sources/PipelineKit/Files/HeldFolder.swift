package import Files
package import Glibc
package import SystemPackage

/// A shared open folder. Its entries are reached by name from the descriptor, so that it does not
/// matter what happens to the path that led there.
package final class HeldFolder: Sendable {
    package let folder: Folder
    package var path: FilePath { folder.path }

    /// Holds a folder that is open.
    package init(_ opened: consuming OpenFile) { folder = Folder(opened) }

    /// Holds the folder at a path, which may be a symbolic link.
    package init(_ path: FilePath, _ flags: Int32 = O_RDONLY) throws(IOError) {
        folder = Folder(try OpenFile.open(path, flags | O_DIRECTORY))
    }

    /// Holds a folder in another one; a symbolic link is not followed.
    package init(_ name: FileName, in other: HeldFolder, _ flags: Int32 = O_RDONLY) throws(IOError) {
        folder = Folder(try OpenFile.open(name, in: other.folder.file, flags | O_DIRECTORY))
    }

    /// Whether only root and our user may change its entries: a sticky folder lets others create them first.
    package func isOurs() throws(IOError) -> Bool {
        let status = try folder.file.status()
        return FolderTrust.reason(
            kind: .folder, owner: status.st_uid, mode: status.st_mode, for: geteuid(), isEnd: true) == nil
    }

    /// The status of an entry; nil if there is none. A link is not followed.
    package func status(of name: FileName) throws(IOError) -> stat? { try folder.status(of: Self.entry(name)) }

    /// The identity of an entry; nil if there is none.
    package func identity(of name: FileName) throws(IOError) -> FileIdentity? {
        try status(of: name).map { FileIdentity($0) }
    }

    /// Holds a folder in this one, made where nothing has its name; nil where something has it that is not a folder.
    package func makeFolder(_ name: FileName) throws(IOError) -> HeldFolder? {
        try make(name, mode: 0o777)
        do throws(IOError) {
            return try HeldFolder(name, in: self)
        } catch {
            guard error.isUnreachable else { throw error }
            return nil
        }
    }

    /// Creates a folder in this one; an existing entry is left as it is.
    package func make(_ name: FileName, mode: mode_t) throws(IOError) {
        let descriptor = folder.file.descriptor
        guard name.withCString({ mkdirat(descriptor, $0, mode) }) != 0, Errno.last != .fileExists else { return }
        throw IOError("create the folder", path.appending(name), .last)
    }

    /// Removes a file or link; what is not there counts as removed, also where the call says that it failed.
    package func remove(_ name: FileName) throws(IOError) {
        let descriptor = folder.file.descriptor
        guard name.withCString({ unlinkat(descriptor, $0, 0) }) != 0, Errno.last != .noSuchFileOrDirectory else {
            return
        }
        let error = IOError("remove", path.appending(name), .last)
        guard try MadeCalls.look(name, in: folder.file) != nil else { return }
        throw error
    }

    /// Gives a file or folder another name, here or in another folder, unless that is taken (`fileExists`).
    package func move(_ name: FileName, to target: FileName, in other: HeldFolder) throws(IOError) {
        try NoReplace.rename(Spot(Self.entry(name), in: self), to: Spot(Self.entry(target), in: other))
    }

    /// Syncs its entries.
    package func sync() throws(IOError) { try folder.file.sync() }

    private static func entry(_ name: FileName) -> FilePath { FilePath().appending(name) }
}
