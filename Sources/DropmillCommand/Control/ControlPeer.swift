import CLinux
import Glibc
import Journal
import PipelineKit

/// Who is at the other end of a connection, by the kernel's word, or asks by way of a shared journal.
struct ControlPeer: Sendable, Equatable {
    let user: uid_t
    let groups: Set<gid_t>
    /// For whom it asks; nil where it asks for itself.
    var behalf: Behalf?
    /// The user's name on another host; nil where it is one of this host.
    let remoteName: String?

    init(user: uid_t, groups: Set<gid_t> = []) {
        self.user = user
        self.groups = groups
        remoteName = nil
    }

    /// Who may write to the journal that nodes share is trusted as this daemon's own user is.
    init(_ request: NodeRequest) {
        (user, groups, remoteName) = (request.user, [], request.by)
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
    var account: String { remoteName ?? AccountName.user(user) }
    /// What people call who wants it.
    var name: String { behalf?.name ?? account }
}
