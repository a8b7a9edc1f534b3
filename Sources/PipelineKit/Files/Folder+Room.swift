import Files
import Glibc
package import SystemPackage

extension Folder {
    /// O_TMPFILE of open(2), which is not visible to Swift: a file without a name.
    private static let nameless: Int32 = 0o20_000_000 | O_DIRECTORY

    /// Whether so many bytes can be written in a folder now. True also where that cannot be tried: using it will tell.
    package static func hasRoom(for bytes: Int, in path: FilePath) -> Bool {
        do throws(IOError) {
            let file = try OpenFile.open(path, nameless | O_RDWR, mode: 0o600)
            let error = Errno(rawValue: posix_fallocate(file.descriptor, 0, off_t(bytes)))
            return error != .noSpace && error != .diskQuotaExceeded
        } catch {
            return error.errno != .noSpace && error.errno != .diskQuotaExceeded
        }
    }
}
