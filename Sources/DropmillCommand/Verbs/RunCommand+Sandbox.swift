import CLinux
import Glibc

extension RunCommand {
    /// The warning at the start if the daemon runs as root and the kernel cannot confine its helpers; nil otherwise.
    static var sandboxWarning: String? {
        guard geteuid() == 0, dm_landlock_version() == 0 else { return nil }
        return
            "the daemon runs as root, and this kernel has no Landlock (Linux 5.13 or later) to confine the helpers "
            + "that read strangers' files; run it as a user of its own"
    }
}
