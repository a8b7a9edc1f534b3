import Glibc
import PipelineKit
import SystemPackage

/// Where in its inbox a claimed drop lay, kept in its job's folder until the journal knows: a symbolic link that says
/// it, since that is made at once and whole.
enum Origin {
    /// The link's name.
    static let name = ".from"

    /// Notes it before the drop is moved there. Nothing is noted for the inbox itself.
    static func note(_ folder: InboxFolder, in job: FilePath) throws(IOError) {
        let link = job.appending(name)
        let text = FilePath(bytes: folder.bytes)
        guard text.withPlatformString({ text in link.withPlatformString { symlink(text, $0) } }) == 0 else {
            throw IOError("create", link, .last)
        }
    }

    /// What was noted.
    static func of(_ job: FilePath) throws(IOError) -> InboxFolder {
        let link = job.appending(name)
        guard Folder.kind(of: link) == .symbolicLink else { return .top }
        return InboxFolder(try Transfer.target(of: link).components.compactMap { FileName($0) })
    }
}
