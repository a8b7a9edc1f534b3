package import Files
package import Glibc
package import SystemPackage

/// Files that are read or written as a whole.
package enum SmallFile {
    /// A file's bytes. A link is not followed. Throws `fileTooLarge` where there are more than so many.
    package static func read(_ path: FilePath, atMost limit: Int) throws(IOError) -> [UInt8] {
        try read(try OpenFile.open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW), atMost: limit)
    }

    /// The same of a file that is open.
    package static func read(_ file: borrowing OpenFile, atMost limit: Int) throws(IOError) -> [UInt8] {
        var bytes: [UInt8] = []
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 16 << 10, alignment: 16)
        defer { buffer.deallocate() }
        // To its end, whatever its size is said to be: files of /proc have none.
        while true {
            let count = try file.read(into: buffer)
            if count == 0 { return bytes }
            bytes += buffer[..<count]
            if bytes.count > limit { throw IOError("read", file.path, .fileTooLarge) }
        }
    }

    /// Whether a file below a folder has exactly this content.
    package static func holds(
        _ relative: FilePath, in folder: borrowing Folder, _ expected: [UInt8]
    ) throws(IOError) -> Bool {
        do throws(IOError) {
            return try read(try folder.open(relative, O_RDONLY | O_NONBLOCK), atMost: expected.count) == expected
        } catch {
            guard error.errno == .fileTooLarge else { throw error }
            return false
        }
    }

    /// Writes a file below a folder under another name and then renames it, so that half of it is never there. What has
    /// the name is replaced. `owner`: whose it is to be; nil for who writes it.
    package static func write(
        _ contents: [UInt8], to target: FilePath, in folder: borrowing Folder, by draft: FilePath,
        mode: mode_t = 0o666, owner: uid_t? = nil
    ) throws(IOError) {
        do throws(IOError) {
            let file = try folder.open(draft, O_WRONLY | O_CREAT | O_EXCL, mode: mode)
            if let owner, fchown(file.descriptor, owner, gid_t.max) != 0 { throw IOError("chown", draft, .last) }
            try file.write(contents)
            try file.close()
            try folder.rename(draft, over: target)
        } catch {
            let first = error
            do throws(IOError) { try folder.remove(draft) } catch { /* The first error is the one to tell. */  }
            throw first
        }
    }
}
