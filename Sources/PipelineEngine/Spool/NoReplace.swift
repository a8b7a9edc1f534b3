import CLinux
import Glibc
package import PipelineKit
package import SystemPackage

/// Renames that never overwrite by accident.
package enum NoReplace {
    /// Gives the file or folder its new name unless that is taken (`fileExists`). Atomic where the file system has
    /// RENAME_NOREPLACE; elsewhere (FUSE, some NFS and SMB: EINVAL) a file is linked and then unlinked, which does not
    /// overwrite either, and a folder is renamed after a look, since rename(2) only ever replaces an empty one.
    package static func rename(_ source: FilePath, to target: FilePath) throws(IOError) {
        if call(source, target, dm_rename_noreplace) == 0 { return }
        switch Errno.last {
        case .invalidArgument, .noFunction: try renameWithoutFlag(source, to: target)
        case let error:
            let isSourceGone = error == .noSuchFileOrDirectory && Folder.kind(of: source) == nil
            throw IOError("rename", isSourceGone ? source : target, error)
        }
    }

    /// Puts the source in the target's place: a file by rename(2), which leaves nothing of the old one; a folder by an
    /// exchange, after which the old one is where the source was.
    package static func replace(_ target: FilePath, with source: FilePath) throws(IOError) {
        if Folder.kind(of: source) == .folder, Folder.kind(of: target) == .folder {
            guard call(source, target, dm_rename_exchange) == 0 else { throw IOError("replace", target, .last) }
            return
        }
        let replaced = source.withPlatformString { old in target.withPlatformString { Glibc.rename(old, $0) } }
        guard replaced == 0 else { throw IOError("replace", target, .last) }
    }

    private static func renameWithoutFlag(_ source: FilePath, to target: FilePath) throws(IOError) {
        if Folder.kind(of: source) == .folder {
            guard Folder.kind(of: target) == nil else { throw IOError("rename", target, .fileExists) }
            let renamed = source.withPlatformString { old in target.withPlatformString { Glibc.rename(old, $0) } }
            guard renamed == 0 else { throw IOError("rename", target, .last) }
            return
        }
        let linked = source.withPlatformString { old in target.withPlatformString { link(old, $0) } }
        guard linked == 0 else { throw IOError("rename", target, .last) }
        guard source.withPlatformString({ unlink($0) }) == 0 else { throw IOError("remove", source, .last) }
    }

    private static func call(
        _ source: FilePath, _ target: FilePath,
        _ body: (Int32, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>) -> Int32
    ) -> Int32 {
        source.withPlatformString { old in target.withPlatformString { body(AT_FDCWD, old, AT_FDCWD, $0) } }
    }
}
