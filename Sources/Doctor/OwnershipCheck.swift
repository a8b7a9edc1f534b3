import CLinux
import Files
import Glibc
import PipelineKit
import SystemPackage

/// Tries how drops of other users can be taken over, and reports the cost.
enum OwnershipCheck {
    enum Way: Equatable {
        /// By a change of its owner.
        case owner
        /// By a copy that shares its blocks.
        case sharing
        /// By a copy of every byte.
        case copy
    }

    /// Tries it with canaries in one of our folders.
    static func way(in folder: FilePath) throws(IOError) -> Way {
        let canary = try Canary(in: folder)
        let file = try OpenFile.open(canary.path, O_RDWR | O_NOFOLLOW)
        let (user, group) = (geteuid(), getegid())
        if fchown(file.descriptor, Self.other, gid_t.max) == 0, fchown(file.descriptor, user, group) == 0 {
            return .owner
        }
        try file.write([UInt8](repeating: 1, count: 4096))
        let second = try Canary(in: folder)
        let copy = try OpenFile.open(second.path, O_RDWR | O_NOFOLLOW)
        return dm_clone(file.descriptor, copy.descriptor) == 0 ? .sharing : .copy
    }

    /// `nobody` on nearly every system; the account need not exist.
    private static let other: uid_t = 65534

    /// The finding for an inbox whose claimed drops go into this folder; nil if nothing can be tested there, which
    /// `rights` reports.
    static func finding(_ ownership: Pipeline.Ownership, in folder: FilePath) -> Finding? {
        guard ownership == .take else {
            return .note(
                .ownership,
                "drops still belong to their senders (`ownership: keep`), who can change them until publication; costs "
                    + "nothing", "Set `ownership: take`, unless every sender is trusted")
        }
        do throws(IOError) {
            switch try way(in: folder) {
            case .owner:
                return .good(
                    .ownership,
                    "other users' drops are taken over by a change of owner; costs some system calls per file, "
                        + "whatever its size")
            case .sharing:
                return .good(
                    .ownership,
                    "other users' drops are taken over by a copy that shares their blocks; costs a new file each, "
                        + "whatever its size")
            case .copy:
                return .note(
                    .ownership,
                    "other users' drops are taken over by a full copy; every byte is read and written once more",
                    "Give the daemon CAP_CHOWN (AmbientCapabilities=CAP_CHOWN in its unit), or use an inbox on a file "
                        + "system that shares blocks (xfs, btrfs)")
            }
        } catch {
            return nil
        }
    }
}
