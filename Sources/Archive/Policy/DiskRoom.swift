import Glibc

/// What the file system of a folder has left to give, at this moment.
package struct DiskRoom: Sendable, Equatable {
    /// Bytes that users may take, without those that are to stay free: less than 0 where there are not even these.
    package let bytes: Int64
    /// Files and folders; as many as there can be, on file systems that have no number of them.
    package let files: Int64
    /// Bytes that it gives at once.
    let block: Int64

    /// Asks the file system (fstatvfs(3)); nil where it does not say: what is missing then shows when it is used.
    package static func left(of folder: Int32, reserve: Int64) -> DiskRoom? {
        var info = statvfs()
        guard fstatvfs(folder, &info) == 0 else { return nil }
        let (bytes, overflow) = UInt64(info.f_bavail).multipliedReportingOverflow(by: UInt64(info.f_frsize))
        return DiskRoom(
            bytes: (overflow ? .max : Int64(clamping: bytes)) - max(0, reserve),
            files: info.f_files > 0 ? Int64(clamping: info.f_favail) : .max,
            block: Int64(clamping: UInt64(info.f_frsize)))
    }
}
