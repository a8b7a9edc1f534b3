import CLinux
import Glibc
import Journal
import PipelineKit

/// Who is at the other end of a connection, by the kernel's word.
struct ControlPeer: Sendable, Equatable {
    let user: uid_t
    let groups: Set<gid_t>
    /// For whom it asks; nil where it asks for itself.
    var behalf: Behalf?

    init(user: uid_t, groups: Set<gid_t> = []) {
        self.user = user
        self.groups = groups
    }

    /// Nil where the kernel does not say.
    init?(of socket: Int32) {
        var (user, group) = (uid_t(), gid_t())
        guard dm_peer(socket, &user, &group) == 0 else { return nil }
        var others = [gid_t](repeating: 0, count: 65_536)
        let count = dm_peer_groups(socket, &others, Int32(others.count))
        self.init(user: user, groups: Set([group] + others.prefix(max(0, Int(count)))))
    }

    /// What the user is called. Asks the system's directory, which may take long.
    var account: String { AccountName.user(user) }
    /// What people call who wants it.
    var name: String { behalf?.name ?? account }
}
