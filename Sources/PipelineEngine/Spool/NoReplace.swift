import CLinux
import Glibc
package import PipelineKit
package import SystemPackage

/// One end of a rename: a name in a folder that is held, or a whole path where nobody else can change what leads there.
struct Spot: Sendable {
    private let folder: HeldFolder?
    private let name: FilePath

    /// A name in a folder.
    init(_ name: FilePath, in folder: HeldFolder) {
        self.folder = folder
        self.name = name
    }

    /// A whole path, in a folder that is ours.
    init(_ path: FilePath) {
        folder = nil
        name = path
    }

    /// The whole path, for messages.
    var path: FilePath { folder?.path.pushing(name) ?? name }

    /// What is there, a link not followed; nil for nothing, or nothing that can be seen.
    var kind: FileKind? {
        var status = stat()
        guard call({ fstatat($0, $1, &status, AT_SYMLINK_NOFOLLOW) }) == 0 else { return nil }
        return FileKind(mode: status.st_mode)
    }

    /// Calls the body with the folder's descriptor and the name.
    func call(_ body: (Int32, UnsafePointer<CChar>) -> Int32) -> Int32 {
        withExtendedLifetime(folder) {
            name.withPlatformString { body(folder?.folder.file.descriptor ?? AT_FDCWD, $0) }
        }
    }
}

/// Renames that never overwrite by accident.
package enum NoReplace {
    /// Renames by whole paths, in folders that are ours.
    package static func rename(_ source: FilePath, to target: FilePath) throws(IOError) {
        try rename(Spot(source), to: Spot(target))
    }

    /// Gives the file or folder its new name unless that is taken (`fileExists`). Atomic where the file system has
    /// RENAME_NOREPLACE; elsewhere (FUSE, some NFS and SMB: EINVAL) a file is linked and then unlinked, which does not
    /// overwrite either, and a folder is renamed after a look, since rename(2) only ever replaces an empty one.
    static func rename(_ source: Spot, to target: Spot) throws(IOError) {
        if call(source, target, dm_rename_noreplace) { return }
        switch Errno.last {
        case .invalidArgument, .noFunction: try renameWithoutFlag(source, to: target)
        case let error:
            let isSourceGone = error == .noSuchFileOrDirectory && source.kind == nil
            throw IOError("rename", isSourceGone ? source.path : target.path, error)
        }
    }

    /// Puts the source in the target's place: a file by rename(2), which leaves nothing of the old one; a folder by an
    /// exchange, after which the old one is where the source was.
    static func replace(_ target: Spot, with source: Spot) throws(IOError) {
        let areFolders = source.kind == .folder && target.kind == .folder
        guard call(source, target, areFolders ? dm_rename_exchange : renameat) else {
            throw IOError("replace", target.path, .last)
        }
    }

    private static func renameWithoutFlag(_ source: Spot, to target: Spot) throws(IOError) {
        if source.kind == .folder {
            guard target.kind == nil else { throw IOError("rename", target.path, .fileExists) }
            guard call(source, target, renameat) else { throw IOError("rename", target.path, .last) }
            return
        }
        guard call(source, target, { linkat($0, $1, $2, $3, 0) }) else { throw IOError("rename", target.path, .last) }
        guard source.call({ unlinkat($0, $1, 0) }) == 0 else { throw IOError("remove", source.path, .last) }
    }

    private static func call(
        _ source: Spot, _ target: Spot,
        _ body: (Int32, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>) -> Int32
    ) -> Bool {
        source.call { old, oldName in target.call { new, newName in body(old, oldName, new, newName) } } == 0
    }
}
