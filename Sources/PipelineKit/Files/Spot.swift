package import Files
package import Glibc
package import SystemPackage

/// One end of a rename: a name in a held folder, or a whole path where no one else can change the folders above.
package struct Spot: Sendable {
    private let folder: HeldFolder?
    private let name: FilePath

    package init(_ name: FilePath, in folder: HeldFolder) {
        self.folder = folder
        self.name = name
    }

    /// A whole path, in a folder that is ours.
    package init(_ path: FilePath) {
        folder = nil
        name = path
    }

    /// The whole path, for messages.
    package var path: FilePath { folder?.path.pushing(name) ?? name }

    /// What is there, a link not followed; nil for nothing, or nothing that can be seen.
    package var status: stat? {
        var status = stat()
        return call { fstatat($0, $1, &status, AT_SYMLINK_NOFOLLOW) } == 0 ? status : nil
    }

    /// The same, according to the server of a network file system instead of the kernel's cache; nil only if there
    /// is none.
    package var statusNow: stat? {
        get throws(IOError) {
            var found = Result<stat?, Errno>.success(nil)
            _ = call { folder, name in
                found = Result { () throws(Errno) in try MadeCalls.look(folder, name) }
                return 0
            }
            do throws(Errno) { return try found.get() } catch { throw IOError("examine", path, error) }
        }
    }

    /// Of which kind that is.
    package var kind: FileKind? { status.map { FileKind(mode: $0.st_mode) } }

    /// Calls the body with the folder's descriptor and the name.
    package func call(_ body: (Int32, UnsafePointer<CChar>) -> Int32) -> Int32 {
        withExtendedLifetime(folder) {
            name.withPlatformString { body(folder?.folder.file.descriptor ?? AT_FDCWD, $0) }
        }
    }
}
