#if os(Linux)
    package import Files
    import Platform
    package import SystemPackage

    /// A file system that never answers, as a network's whose server is gone: whatever looks at it waits, until it is
    /// given up; then it says that it is not connected. Needs root and /dev/fuse.
    package final class SilentMount {
        /// Where it is mounted.
        package let path: FilePath
        /// Of whoever should answer (fuse(4)).
        private var channel: Int32

        /// Whether it works here.
        package static let isPossible = geteuid() == 0 && access("/dev/fuse", R_OK | W_OK) == 0

        /// Why a test that needs one is skipped.
        package static let skip = "needs root and /dev/fuse"

        /// Mounts it on a folder that is made if missing.
        package init(at path: FilePath) throws(IOError) {
            try ScratchFolder.make(path)
            channel = open("/dev/fuse", O_RDWR | O_CLOEXEC)
            guard channel >= 0 else { throw IOError("open", "/dev/fuse", .last) }
            let options = "fd=\(channel),rootmode=40000,user_id=0,group_id=0"
            guard path.withPlatformString({ mount("silent", $0, "fuse", 0, options) }) == 0 else {
                throw IOError("mount", path, .last)
            }
            self.path = path
        }

        /// It is over: who waits for it is told so.
        package func giveUp() {
            guard channel >= 0 else { return }
            close(channel)
            channel = -1
        }

        deinit {
            giveUp()
            _ = path.withPlatformString { umount2($0, Int32(MNT_DETACH)) }
        }
    }
#endif
