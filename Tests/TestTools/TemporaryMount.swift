#if os(Linux)
    package import Files
    import Platform
    package import SystemPackage

    /// A file system that a test mounts for itself, and that goes with the last reference. Needs root.
    package final class TemporaryMount: Sendable {
        /// Where it is mounted.
        package let path: FilePath

        /// Whether this process may mount at all: what tests that need it are enabled by.
        package static var isPossible: Bool { geteuid() == 0 }

        /// Mounts a tmpfs with options as of tmpfs(5), such as `size=16m,nr_inodes=100`, on a folder that is made if
        /// missing.
        package init(tmpfs options: String, at path: FilePath) throws(IOError) {
            try ScratchFolder.make(path)
            guard path.withPlatformString({ mount("tmpfs", $0, "tmpfs", 0, options) }) == 0 else {
                throw IOError("mount", path, .last)
            }
            self.path = path
        }

        /// Shows a folder a second time, as another mount of the same file system: a rename between the two fails with
        /// EXDEV.
        package init(bind source: FilePath, at path: FilePath) throws(IOError) {
            try ScratchFolder.make(path)
            let mounted = source.withPlatformString { from in
                path.withPlatformString { mount(from, $0, nil, UInt(MS_BIND), nil) }
            }
            guard mounted == 0 else { throw IOError("mount", path, .last) }
            self.path = path
        }

        deinit {
            // Lazily: a process under test may still have something open in it.
            _ = path.withPlatformString { umount2($0, Int32(MNT_DETACH)) }
        }
    }
#endif
