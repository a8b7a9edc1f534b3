import CLinux
package import Files
import Glibc
package import SystemPackage

/// Renames that never overwrite by accident. One that fails but was made (`MadeCalls`) counts as made.
package enum NoReplace {
    /// Renames by whole paths, in folders that are ours.
    package static func rename(_ source: FilePath, to target: FilePath) throws(IOError) {
        try rename(Spot(source), to: Spot(target))
    }

    /// Gives the file or folder its new name unless that is taken (`fileExists`). Atomic where the file system has
    /// RENAME_NOREPLACE; elsewhere (FUSE, some NFS and SMB: EINVAL) a file is linked and then unlinked, which does not
    /// overwrite either, and a folder is renamed after a look, since rename(2) only ever replaces an empty one.
    ///
    /// `known`: which inode the source is; nil: it is asked before.
    package static func rename(_ source: Spot, to target: Spot, known: FileIdentity? = nil) throws(IOError) {
        let before = known == nil ? source.status : nil
        if call(source, target, dm_rename_noreplace) { return }
        switch Errno.last {
        case .invalidArgument, .noFunction: try renameWithoutFlag(source, to: target, before, known)
        case let error:
            if try isMade(source, target, before, known) { return }
            let isSourceGone = error == .noSuchFileOrDirectory && source.kind == nil
            throw IOError("rename", isSourceGone ? source.path : target.path, error)
        }
    }

    /// Puts the source in the target's place: a file by rename(2), which leaves nothing of the old one; a folder by an
    /// exchange, after which the old one is where the source was.
    package static func replace(_ target: Spot, with source: Spot) throws(IOError) {
        let before = source.status
        let areFolders = source.kind == .folder && target.kind == .folder
        guard !call(source, target, areFolders ? dm_rename_exchange : renameat) else { return }
        let error = Errno.last
        guard MadeCalls.isRenamed(before, source: try source.statusNow, target: try target.statusNow) else {
            throw IOError("replace", target.path, error)
        }
    }

    private static func renameWithoutFlag(
        _ source: Spot, to target: Spot, _ before: stat?, _ known: FileIdentity?
    ) throws(IOError) {
        if source.kind == .folder {
            guard target.kind == nil else { throw IOError("rename", target.path, .fileExists) }
            guard !call(source, target, renameat) else { return }
            let error = Errno.last
            guard try isMade(source, target, before, known) else { throw IOError("rename", target.path, error) }
            return
        }
        guard call(source, target, { linkat($0, $1, $2, $3, 0) }) else {
            let error = Errno.last
            guard try isMade(source, target, before, known) else { throw IOError("rename", target.path, error) }
            return
        }
        try remove(source)
    }

    /// Whether the target is what the source was, though the call that was to make it so failed. A file that is there
    /// under both names was linked, and loses its old one.
    private static func isMade(
        _ source: Spot, _ target: Spot, _ before: stat?, _ known: FileIdentity?
    ) throws(IOError) -> Bool {
        guard let there = try target.statusNow else { return false }
        guard let here = try source.statusNow else {
            return known.map { $0.inode == there.st_ino } ?? MadeCalls.isRenamed(before, source: nil, target: there)
        }
        guard FileIdentity(here) == FileIdentity(there), FileKind(mode: here.st_mode) != .folder else { return false }
        try remove(source)
        return true
    }

    private static func remove(_ source: Spot) throws(IOError) {
        guard source.call({ unlinkat($0, $1, 0) }) != 0 else { return }
        let error = Errno.last
        guard try source.statusNow != nil else { return }
        throw IOError("remove", source.path, error)
    }

    private static func call(
        _ source: Spot, _ target: Spot,
        _ body: (Int32, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>) -> Int32
    ) -> Bool {
        source.call { old, oldName in target.call { new, newName in body(old, oldName, new, newName) } } == 0
    }
}
