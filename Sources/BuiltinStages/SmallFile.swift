import Glibc
import PipelineKit
import SystemPackage

/// The size of files.
enum FileSize {
    /// A regular file's bytes; a link is not followed.
    static func of(_ path: FilePath) throws(IOError) -> Int64 {
        var status = stat()
        guard path.withPlatformString({ lstat($0, &status) }) == 0 else { throw IOError("examine", path, .last) }
        return Int64(status.st_size)
    }
}

/// Files that are read or written as a whole.
enum SmallFile {
    /// Writes a file under a hidden name and then renames it, so that half of it is never there. What has the name is
    /// replaced.
    static func write(_ contents: [UInt8], to target: FilePath, by draft: FilePath) throws(IOError) {
        do throws(IOError) {
            let file = try OpenFile.open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o666)
            try file.write(contents)
            try file.close()
            let renamed = draft.withPlatformString { from in target.withPlatformString { rename(from, $0) } }
            guard renamed == 0 else { throw IOError("rename", draft, .last) }
        } catch {
            // The first error is the one to tell.
            draft.withPlatformString { _ = unlink($0) }
            throw error
        }
    }

    /// A regular file's content; nil where it has more than `most` bytes. A link is not followed.
    static func read(_ path: FilePath, atMost most: Int) throws(IOError) -> [UInt8]? {
        let file = try OpenFile.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        let status = try file.status()
        guard FileKind(mode: status.st_mode) == .regular else { throw IOError("read", path, .invalidArgument) }
        guard Int64(status.st_size) <= Int64(most) else { return nil }
        let size = Int(status.st_size)
        var failure: IOError?
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            do throws(IOError) {
                while count < size {
                    let rest = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[count...])
                    let read = try file.read(into: rest)
                    if read == 0 { break }
                    count += read
                }
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return bytes
    }

    /// Whether the file has exactly this content.
    static func holds(_ path: FilePath, _ expected: [UInt8]) throws(IOError) -> Bool {
        try read(path, atMost: expected.count) == expected
    }
}
