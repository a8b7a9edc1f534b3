#if !os(Linux) || DROPMILL_KQUEUE
    import Platform
    package import SystemPackage

    // With what POSIX has, and a few numbers. On Linux for tests only.
    extension OpenFile {
        /// A handle of a folder, good for what lies below it alone: O_SEARCH, which is not visible to Swift everywhere,
        /// or what comes closest.
        package static let pathOnly: Int32 = {
            #if canImport(Darwin)
                0x4000_0000 | O_DIRECTORY
            #elseif os(FreeBSD)
                0x0004_0000 | O_DIRECTORY
            #elseif os(Linux)
                0o10_000_000 | O_DIRECTORY
            #else
                O_RDONLY | O_DIRECTORY
            #endif
        }()

        /// There is no opening without a new time of access.
        static let noAccessTime: Int32 = 0

        /// Opens what lies below a folder, each name in the folder before it: no `..`, no absolute path (EXDEV), no
        /// symbolic link on the way or at the end (ELOOP). A folder that is moved meanwhile is walked on in, and never
        /// out of where it is by then.
        static func openBeneath(
            _ folder: Int32, _ path: FilePath, _ flags: Int32, mode: mode_t
        ) throws(Errno) -> Int32 {
            guard !path.isAbsolute, !path.components.contains(where: { $0.kind == .parentDirectory }) else {
                throw .improperLink
            }
            var names = path.components.map { FilePath(root: nil, [$0]) }
            guard let last = names.popLast() else { throw .noSuchFileOrDirectory }
            var place = folder
            defer { if place != folder { _ = Platform.close(place) } }
            for name in names {
                let next = try openName(name, in: place, pathOnly | O_DIRECTORY, mode: 0)
                if place != folder { _ = Platform.close(place) }
                place = next
            }
            return try openName(last, in: place, flags, mode: mode)
        }

        private static func openName(
            _ name: FilePath, in folder: Int32, _ flags: Int32, mode: mode_t
        ) throws(Errno) -> Int32 {
            let descriptor = name.withPlatformString { name in
                retrying { Platform.openat(folder, name, flags | O_NOFOLLOW | O_CLOEXEC, mode) }
            }
            guard descriptor < 0 else { return descriptor }
            let error = Errno.last
            // For a link it is ELOOP by POSIX, but EMLINK on FreeBSD, and where a folder is wanted ENOTDIR.
            guard error == .notDirectory || error == .tooManyLinks else { throw error }
            var status = stat()
            let isLink =
                name.withPlatformString { fstatat(folder, $0, &status, AT_SYMLINK_NOFOLLOW) } == 0
                && FileKind(mode: status.st_mode) == .symbolicLink
            throw isLink ? .tooManySymbolicLinkLevels : error
        }

        /// A pipe whose ends no program inherits, but for one that is started just between the two calls.
        package static func pipe() throws(Errno) -> (reading: Int32, writing: Int32) {
            var ends: [Int32] = [-1, -1]
            guard Platform.pipe(&ends) == 0 else { throw .last }
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            return (ends[0], ends[1])
        }

        /// The number of the file system that it is on, or -1 where that cannot be told.
        package var mount: Int64 {
            var status = stat()
            return fstat(descriptor, &status) == 0 ? Int64(truncatingIfNeeded: status.st_dev) : -1
        }
    }
#endif
