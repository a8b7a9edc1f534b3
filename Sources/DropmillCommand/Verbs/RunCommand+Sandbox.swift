import CLinux
import Glibc

extension RunCommand {
    /// What is to be said at the start where the daemon's user may do everything and the kernel can keep no process of
    /// its from files; nil where either is not so.
    static var sandboxWarning: String? {
        guard geteuid() == 0, dm_landlock_version() == 0 else { return nil }
        return
            "the daemon runs as root, and this kernel has no Landlock (Linux 5.13 or later) to confine the helpers "
            + "that read strangers' files; run it as a user of its own"
    }
}
