import Files
import Glibc
import SystemPackage

/// A test file with a hidden name, which no pipeline takes. It is removed with this value, wherever it was renamed to.
struct Canary: ~Copyable {
    private static let prefix = ".dropmill-canary-"
    /// One that is older was left behind by a process that was killed.
    private static let abandonedAfter = 3600

    private(set) var path: FilePath

    init(in folder: FilePath) throws(IOError) {
        path = Self.path(in: folder)
        try OpenFile.open(path, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600).close()
    }

    deinit { _ = path.withPlatformString { unlink($0) } }

    /// A path in a folder that no canary has yet.
    static func path(in folder: FilePath) -> FilePath {
        folder.appending("\(prefix)\(getpid())-\(UInt32.random(in: 0 ... .max))")
    }

    mutating func moved(to target: FilePath) { path = target }

    func change() throws(IOError) {
        let file = try OpenFile.open(path, O_WRONLY | O_APPEND | O_NOFOLLOW)
        try file.write([0])
        try file.close()
    }

    /// Removes what processes that were killed left in the folder.
    static func tidy(_ folder: FilePath) throws(IOError) {
        // Which may be behind a link.
        let open = try OpenFile.open(folder, O_RDONLY | O_DIRECTORY)
        for name in try Folder.names(in: open) where name.bytes.starts(with: prefix.utf8) {
            let path = folder.appending(name)
            guard let status = FileStatus.of(path) else { continue }
            if FileTime(status.st_ctim) < FileTime(seconds: time(nil) - abandonedAfter) {
                _ = path.withPlatformString { unlink($0) }
            }
        }
    }
}
