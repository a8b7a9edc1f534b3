#if os(Linux) && !DROPMILL_KQUEUE
    import CLinux
    package import SystemPackage

    extension FileSystemKind {
        /// Magic numbers of statfs(2), from linux/magic.h and the file systems' own sources: those that others can
        /// change without this kernel's knowledge, be it over a network or on a shared disk. GlusterFS, sshfs and
        /// virtiofs are FUSE here.
        private static let networks: [Int64: String] = [
            0x6969: "NFS", 0x517B: "SMB", 0xFF53_4D42: "CIFS", 0xFE53_4D42: "SMB2", 0x6573_5546: "FUSE",
            0x0102_1997: "9P",
            0x00C3_6400: "Ceph", 0x7461_636F: "OCFS2", 0x0116_1970: "GFS2", 0xAAD7_AAEA: "PanFS", 0x6163_6673: "ACFS",
            0x0131_11A8: "IBRIX", 0xBEEF_DEAD: "StorNext", 0x7C7C_6673: "Parallels shared folder",
            0x00C0_FFEE: "hostfs",
            0x0BD0_0BD0: "Lustre", 0x5346_414F: "AFS", 0x6B41_4653: "AFS", 0x7375_7245: "Coda",
            0x4750_4653: "GPFS", 0x1970_0426: "BeeGFS", 0x564C: "NCP", 0x786F_4256: "vboxsf",
            0xBACB_ACBC: "VMware shared folder",
        ]

        /// The kind of the file system that holds the path; one that cannot be asked counts as local.
        package static func of(_ path: FilePath) -> FileSystemKind {
            let magic = path.withPlatformString { dm_file_system_type($0) }
            return networks[magic].map { .network($0) } ?? .local
        }
    }
#endif
