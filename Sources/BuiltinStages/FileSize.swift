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
