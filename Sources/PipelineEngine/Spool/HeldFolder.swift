import CLinux
import Glibc
import PipelineKit
import SystemPackage

/// A folder that is held open. What is in it is reached by its name from the descriptor, so that it does not matter
/// what becomes of the path that led there.
final class HeldFolder: Sendable {
    let file: OpenFile
    var path: FilePath { file.path }

    /// Holds the folder at a path, which may be a symbolic link.
    init(_ path: FilePath) throws(IOError) { file = try OpenFile.open(path, O_RDONLY | O_DIRECTORY) }

    /// Holds a folder in another one; a symbolic link is not followed.
    init(_ name: FileName, in folder: HeldFolder) throws(IOError) {
        file = try OpenFile.open(name, in: folder.file, O_RDONLY | O_DIRECTORY)
    }

    /// What has the name; nil for nothing. A link is not followed.
    func status(of name: FileName) throws(IOError) -> stat? {
        var status = stat()
        let folder = file.descriptor
        if name.withCString({ fstatat(folder, $0, &status, AT_SYMLINK_NOFOLLOW) }) == 0 { return status }
        guard Errno.last == .noSuchFileOrDirectory else { throw IOError("examine", path.appending(name), .last) }
        return nil
    }

    /// Which inode has the name; nil for nothing.
    func identity(of name: FileName) throws(IOError) -> FileIdentity? {
        try status(of: name).map { FileIdentity($0) }
    }

    /// Holds a folder in this one, made where nothing has its name; nil where something has it that is no folder.
    func makeFolder(_ name: FileName) throws(IOError) -> HeldFolder? {
        let folder = file.descriptor
        if name.withCString({ mkdirat(folder, $0, 0o777) }) != 0, Errno.last != .fileExists {
            throw IOError("create the folder", path.appending(name), .last)
        }
        do throws(IOError) {
            return try HeldFolder(name, in: self)
        } catch {
            guard error.isUnreachable else { throw error }
            return nil
        }
    }

    /// Removes a file or link; what is not there counts as removed.
    func remove(_ name: FileName) throws(IOError) {
        let folder = file.descriptor
        guard name.withCString({ unlinkat(folder, $0, 0) }) != 0, Errno.last != .noSuchFileOrDirectory else { return }
        throw IOError("remove", path.appending(name), .last)
    }

    /// Gives a file or folder another name, here or in another folder, unless that is taken (`fileExists`). Where the
    /// file system cannot refuse taken names by itself, as in `NoReplace`.
    func move(_ name: FileName, to target: FileName, in other: HeldFolder) throws(IOError) {
        let (from, to) = (file.descriptor, other.file.descriptor)
        func call(_ body: (UnsafePointer<CChar>, UnsafePointer<CChar>) -> Int32) -> Bool {
            name.withCString { old in target.withCString { new in body(old, new) } } == 0
        }
        if call({ dm_rename_noreplace(from, $0, to, $1) }) { return }
        let error = Errno.last
        guard error == .invalidArgument || error == .noFunction else {
            throw IOError(
                "rename", try status(of: name) == nil ? path.appending(name) : other.path.appending(target), error)
        }
        guard let status = try status(of: name), FileKind(mode: status.st_mode) == .folder else {
            guard call({ linkat(from, $0, to, $1, 0) }) else {
                throw IOError("rename", other.path.appending(target), .last)
            }
            return try remove(name)
        }
        guard try other.status(of: target) == nil else {
            throw IOError("rename", other.path.appending(target), .fileExists)
        }
        guard call({ renameat(from, $0, to, $1) }) else { throw IOError("rename", other.path.appending(target), .last) }
    }

    /// Brings its entries to the disk.
    func sync() throws(IOError) { try file.sync() }
}
