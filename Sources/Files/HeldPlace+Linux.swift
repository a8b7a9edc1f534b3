#if os(Linux) && !DROPMILL_KQUEUE
    import CLinux
    import Platform
    import SystemPackage

    /// Something that is held without being opened.
    final class HeldPlace {
        /// For the `*at` calls, if it is a folder.
        let descriptor: Int32
        let path: FilePath

        init(_ name: FilePath, in folder: Int32, at path: FilePath) throws(IOError) {
            descriptor = name.withPlatformString { name in retrying { dm_open_place(folder, name) } }
            self.path = path
            guard descriptor >= 0 else { throw IOError("look at", path, .last) }
        }

        deinit { if descriptor >= 0 { close(descriptor) } }

        func status() throws(IOError) -> stat {
            var status = stat()
            guard fstat(descriptor, &status) == 0 else { throw IOError("examine", path, .last) }
            return status
        }

        func linkTarget() throws(IOError) -> FilePath {
            var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
            let count = dm_read_link(descriptor, &buffer, buffer.count)
            guard count > 0 else { throw IOError("read the link", path, .last) }
            return FilePath(bytes: buffer[..<count].map { UInt8(bitPattern: $0) })
        }
    }
#endif
