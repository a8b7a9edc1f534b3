package import Platform
public import SystemPackage

/// Owns one descriptor and closes it when it is destroyed.
public struct OpenFile: ~Copyable, Sendable {
    /// The descriptor; valid as long as this owner lives.
    public private(set) var descriptor: Int32
    /// The path it was opened by, for messages.
    public let path: FilePath

    /// Opens a path for reading without a new time of access, where it is ours; that would be written to the disk.
    package static func openQuietly(_ path: FilePath, _ flags: Int32) throws(IOError) -> OpenFile {
        do throws(IOError) {
            return try open(path, flags | noAccessTime)
        } catch {
            guard error.errno == .notPermitted else { throw error }
            return try open(path, flags)
        }
    }

    /// Takes over a descriptor.
    package init(descriptor: Int32, path: FilePath) {
        self.descriptor = descriptor
        self.path = path
    }

    deinit {
        if descriptor >= 0 { _ = Platform.close(descriptor) }
    }

    /// Opens a path (open(2)); `O_CLOEXEC` is always added, EINTR tried again.
    package static func open(_ path: FilePath, _ flags: Int32, mode: mode_t = 0) throws(IOError) -> OpenFile {
        let descriptor = path.withPlatformString { pointer in
            retrying { Platform.open(pointer, flags | O_CLOEXEC, mode) }
        }
        guard descriptor >= 0 else { throw IOError(flags & O_CREAT == 0 ? "open" : "create", path, .last) }
        return OpenFile(descriptor: descriptor, path: path)
    }

    /// Opens an entry of a folder without following a symbolic link.
    package static func open(
        _ name: FileName, in folder: borrowing OpenFile, _ flags: Int32, mode: mode_t = 0
    ) throws(IOError) -> OpenFile {
        let parent = folder.descriptor
        let descriptor = name.withCString { pointer in
            retrying { Platform.openat(parent, pointer, flags | O_CLOEXEC | O_NOFOLLOW, mode) }
        }
        guard descriptor >= 0 else {
            throw IOError(flags & O_CREAT == 0 ? "open" : "create", folder.path.appending(name), .last)
        }
        return OpenFile(descriptor: descriptor, path: folder.path.appending(name))
    }

    /// Opens a folder for listing and for the `*at` calls; a symbolic link is not followed.
    package static func openFolder(_ path: FilePath) throws(IOError) -> OpenFile {
        try open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
    }

    /// Opens the parent of an open folder, only to continue from there; `/` is its own parent.
    package static func openParent(of folder: borrowing OpenFile) throws(IOError) -> OpenFile {
        let path = folder.path.removingLastComponent()
        let parent = folder.descriptor
        let descriptor = retrying { Platform.openat(parent, "..", pathOnly | O_DIRECTORY | O_CLOEXEC) }
        guard descriptor >= 0 else { throw IOError("open", path, .last) }
        return OpenFile(descriptor: descriptor, path: path)
    }

    /// Opens what lies below a folder, by its path from there on: no symbolic link is followed, also at the end, and
    /// nothing leads out (openat2(2); name by name where the kernel has none). An empty path opens the folder again.
    package static func open(
        _ path: FilePath, below folder: borrowing OpenFile, _ flags: Int32, mode: mode_t = 0
    ) throws(IOError) -> OpenFile {
        let full = folder.path.pushing(path)
        do throws(Errno) {
            let descriptor = try openBeneath(folder.descriptor, path.isEmpty ? "." : path, flags, mode: mode)
            return OpenFile(descriptor: descriptor, path: full)
        } catch {
            throw IOError(flags & O_CREAT == 0 ? "open" : "create", full, error)
        }
    }

    /// Opens a folder in the same way, for listing and for the `*at` calls.
    package static func openFolder(_ path: FilePath, below folder: borrowing OpenFile) throws(IOError) -> OpenFile {
        try open(path, below: folder, O_RDONLY | O_DIRECTORY)
    }

    /// Closes and says whether that went well: a write-back error may show only here.
    public consuming func close() throws(IOError) {
        let closing = descriptor
        descriptor = -1
        if Platform.close(closing) != 0, Errno.last != .interrupted { throw IOError("close", path, .last) }
    }

    /// Gives up the descriptor; the caller must close it.
    consuming func release() -> Int32 {
        let released = descriptor
        descriptor = -1
        return released
    }

    /// The file's metadata (fstat(2)).
    package func status() throws(IOError) -> stat {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw IOError("examine", path, .last) }
        return status
    }

    /// Reads up to the buffer's length; 0 at the end.
    public func read(into buffer: UnsafeMutableRawBufferPointer) throws(IOError) -> Int {
        let descriptor = descriptor
        let count = retrying { Platform.read(descriptor, buffer.baseAddress, buffer.count) }
        guard count >= 0 else { throw IOError("read", path, .last) }
        return count
    }

    /// Writes all bytes, however many calls that takes.
    public func write(_ bytes: UnsafeRawBufferPointer) throws(IOError) {
        let descriptor = descriptor
        var rest = bytes[...]
        while !rest.isEmpty {
            let slice = UnsafeRawBufferPointer(rebasing: rest)
            let count = retrying { Platform.write(descriptor, slice.baseAddress, slice.count) }
            guard count >= 0 else { throw IOError("write", path, .last) }
            rest = rest.dropFirst(count)
        }
    }

    /// Writes an array.
    public func write(_ bytes: [UInt8]) throws(IOError) {
        var failure: IOError?
        bytes.withUnsafeBytes { buffer in
            do throws(IOError) { try write(buffer) } catch { failure = error }
        }
        if let failure { throw failure }
    }

    /// Syncs the file's data and metadata (fsync(2)). A failed sync must never be repeated on the same
    /// data: the kernel may have dropped it.
    package func sync() throws(IOError) {
        let descriptor = descriptor
        guard retrying({ fsync(descriptor) }) == 0 else { throw IOError("sync", path, .last) }
    }
}

/// Retries while a signal interrupts.
package func retrying<Result: SignedInteger>(_ call: () -> Result) -> Result {
    while true {
        let result = call()
        if result == -1, errno == EINTR { continue }
        return result
    }
}
