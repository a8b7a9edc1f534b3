import Files
import Glibc
import PipelineKit
import SystemPackage

enum FileSize {
    /// A regular file's bytes; a link is not followed.
    static func of(_ file: TreeFile, below root: borrowing Folder) throws(IOError) -> Int64 {
        guard let status = try root.status(of: file.relative) else {
            throw IOError("examine", root.path.pushing(file.relative), .noSuchFileOrDirectory)
        }
        return Int64(status.st_size)
    }
}
