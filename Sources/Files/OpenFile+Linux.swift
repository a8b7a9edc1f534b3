#if os(Linux) && !DROPMILL_KQUEUE
    import CLinux
    import Platform
    package import SystemPackage

    extension OpenFile {
        /// O_PATH of open(2), which is not visible to Swift: a handle that can be neither read nor written.
        package static let pathOnly: Int32 = 0o10_000_000

        /// O_NOATIME of open(2), which is not visible to Swift either.
        static let noAccessTime: Int32 = 0o1_000_000

        /// openat2(2) that follows no link and leads nowhere out of the folder (see `dm_open_beneath`).
        static func openBeneath(
            _ folder: Int32, _ path: FilePath, _ flags: Int32, mode: mode_t
        ) throws(Errno) -> Int32 {
            let descriptor = path.withPlatformString { dm_open_beneath(folder, $0, flags, mode) }
            guard descriptor >= 0 else { throw .last }
            return descriptor
        }

        /// A pipe whose ends no program inherits by chance.
        package static func pipe() throws(Errno) -> (reading: Int32, writing: Int32) {
            var ends: [Int32] = [-1, -1]
            guard dm_pipe(&ends) == 0 else { throw .last }
            return (ends[0], ends[1])
        }

        /// The number of the mount that it is on, or -1 where the kernel has none. Two mounts of one file system have
        /// the same device, but a rename between them fails with EXDEV.
        package var mount: Int64 { dm_mount_id_of(descriptor) }
    }
#endif
