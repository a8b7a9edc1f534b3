import Files
import Glibc
import SystemPackage

/// What a folder has that is made after another.
struct FolderRights: Equatable {
    /// Who may look into it.
    let mode: mode_t
    /// When it was changed, in seconds.
    let modified: Int

    static func of(_ folder: FilePath) throws(IOError) -> FolderRights {
        let status = try OpenFile.openFolder(folder).status()
        return FolderRights(mode: status.st_mode & 0o7777, modified: Int(status.st_mtim.tv_sec))
    }

    func set(_ folder: FilePath) throws(IOError) {
        let open = try OpenFile.openFolder(folder)
        let time = timespec(tv_sec: modified, tv_nsec: 0)
        guard fchmod(open.descriptor, mode) == 0, futimens(open.descriptor, [time, time]) == 0 else {
            throw IOError("change", folder, .last)
        }
    }
}
