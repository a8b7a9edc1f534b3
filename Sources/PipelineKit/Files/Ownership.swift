import Files
package import Glibc

/// Who owns a file.
package enum Ownership {
    /// Our effective user. Cached: it does not change, and is compared for each drop.
    package static let user = geteuid()

    /// Whether an entry with this status is not ours alone: it is another user's, or others may write to it, or it
    /// gives its rights to whoever runs it.
    package static func isForeign(_ status: stat, to user: uid_t = user) -> Bool {
        // The set-id bits of a folder grant nothing.
        let closed: mode_t = FileKind(mode: status.st_mode) == .folder ? 0o022 : 0o6022
        return status.st_uid != user || status.st_mode & closed != 0
    }
}
