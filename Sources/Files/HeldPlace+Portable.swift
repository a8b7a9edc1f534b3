#if !os(Linux) || DROPMILL_KQUEUE
    import Platform
    import SystemPackage

    /// A folder that is held, or what was found where there is none: only Linux can hold a link itself.
    final class HeldPlace {
        /// For the `*at` calls, if it is a folder; else -1.
        let descriptor: Int32
        let path: FilePath
        private let found: stat
        private let target: FilePath

        init(_ name: FilePath, in folder: Int32, at path: FilePath) throws(IOError) {
            self.path = path
            descriptor = name.withPlatformString { name in
                retrying { openat(folder, name, OpenFile.pathOnly | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) }
            }
            guard descriptor < 0 else {
                var status = stat()
                guard fstat(descriptor, &status) == 0 else {
                    let error = Errno.last
                    close(descriptor)
                    throw IOError("examine", path, error)
                }
                (found, target) = (status, "")
                return
            }
            let error = Errno.last
            let before = try Self.examine(name, in: folder, at: path)
            switch FileKind(mode: before.st_mode) {
            case .folder: throw IOError("look at", path, error)
            case .symbolicLink:
                target = try Self.read(name, in: folder, at: path)
                // Who owns it counts only if that is what was read.
                let after = try Self.examine(name, in: folder, at: path)
                guard Fingerprint(before) == Fingerprint(after) else {
                    throw IOError("read the link", path, .resourceTemporarilyUnavailable)
                }
            default: target = ""
            }
            found = before
        }

        deinit { if descriptor >= 0 { close(descriptor) } }

        func status() throws(IOError) -> stat { found }

        func linkTarget() throws(IOError) -> FilePath { target }

        private static func examine(_ name: FilePath, in folder: Int32, at path: FilePath) throws(IOError) -> stat {
            var status = stat()
            guard name.withPlatformString({ fstatat(folder, $0, &status, AT_SYMLINK_NOFOLLOW) }) == 0 else {
                throw IOError("look at", path, .last)
            }
            return status
        }

        private static func read(_ link: FilePath, in folder: Int32, at path: FilePath) throws(IOError) -> FilePath {
            var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
            let count = link.withPlatformString { readlinkat(folder, $0, &buffer, buffer.count) }
            guard count > 0 else { throw IOError("read the link", path, .last) }
            return FilePath(bytes: buffer[..<count].map { UInt8(bitPattern: $0) })
        }
    }
#endif
