import Files
import Glibc
import SystemPackage

/// Where in its inbox a claimed drop lay, kept in its job's folder until the journal knows: a symbolic link that says
/// it, since that is made at once and whole.
enum Origin {
    static let name = ".from"

    /// Notes it before the drop is moved there. Nothing is noted for the inbox itself.
    static func note(_ folder: InboxFolder, in job: FilePath) throws(IOError) {
        try Folder.open(job).makeLink(FilePath(name), to: FilePath(bytes: folder.bytes))
    }

    static func of(_ job: FilePath) throws(IOError) -> InboxFolder {
        guard let path = try Folder.open(job).target(ofLink: FilePath(name)) else { return .top }
        return InboxFolder(path.components.compactMap { FileName($0) })
    }
}
