import Control
import Glibc
import PipelineKit

/// Who may ask, and who may change something.
struct ControlAccess: Sendable, Equatable {
    /// The state folder's user.
    var owner: uid_t = geteuid()
    /// Besides that user and root, its members may ask; nil: nobody else.
    var group: gid_t?
    /// Whether they may change something, too.
    var groupMayChange = false

    /// Whether the peer is one for whom all this was made; others share few connections.
    func isOwn(_ peer: ControlPeer) -> Bool { peer.user == 0 || peer.user == owner || peer.remoteName != nil }

    func refusal(of peer: ControlPeer, isChange: Bool) -> ControlProblem? {
        if isOwn(peer) { return nil }
        guard let group, peer.groups.contains(group) else {
            let members = group.map { ", root and members of the group \(AccountName.group($0))" }
            return ControlProblem(
                "it answers its own user\(members ?? " and root") only; \(remedy)", isForbidden: true)
        }
        guard isChange, !groupMayChange else { return nil }
        return ControlProblem(
            "members of the group \(AccountName.group(group)) may look, not change; \(remedy), or set "
                + "control_group_may: change", isForbidden: true)
    }

    private var remedy: String {
        owner == 0 ? "run this as root" : "run this as \(AccountName.user(owner)) or as root"
    }
}
