package import Files
import FolderWatch
import Glibc
import PipelineKit
package import SystemPackage

/// What a kill left of files and folders that were on their way into an inbox.
package enum UploadLeftovers {
    private static let beginning = ".dropmill-", end = ".upload"
    /// How many seconds old one is that was left, where there are no locks to tell.
    private static let longest = 3600

    /// The rights of a folder as long as it comes. By the sticky bit it is told from folders that came, which somebody
    /// may have given such a name: those are no one's to remove.
    static let comingMode: mode_t = 0o1755

    static func isComing(_ status: stat) -> Bool {
        FileKind(mode: status.st_mode) != .folder || status.st_mode & S_ISVTX != 0
    }

    /// A name that no inbox takes.
    static func newName() -> FileName {
        var generator = SystemRandomNumberGenerator()
        let number = String(generator.next(), radix: 32) + String(generator.next(), radix: 32)
        return FileName(unchecked: Array("\(beginning)\(number)\(end)".utf8))
    }

    /// Removes what nobody writes any more, and says how much that was. `coming`: names of what comes now.
    @discardableResult
    package static func remove(from inbox: FilePath, besides coming: Set<FileName> = []) throws(IOError) -> Int {
        let top = HeldFolder(try OpenInbox.open(inbox))
        var found: [FileName] = []
        try top.folder.forEachEntry { name, _ in if isOne(name) { found.append(name) } }
        var count = 0
        for name in found where !coming.contains(name) {
            guard try isLeft(name, in: top) else { continue }
            try top.folder.remove(FilePath().appending(name))
            count += 1
        }
        return count
    }

    private static func isOne(_ name: FileName) -> Bool {
        name.bytes.starts(with: beginning.utf8) && name.bytes.suffix(end.utf8.count).elementsEqual(end.utf8)
    }

    /// Whether it is ours, and nobody holds it.
    private static func isLeft(_ name: FileName, in top: HeldFolder) throws(IOError) -> Bool {
        guard let status = try top.status(of: name), status.st_uid == geteuid(),
            [.regular, .folder].contains(FileKind(mode: status.st_mode)), isComing(status)
        else { return false }
        let file = try OpenFile.open(name, in: top.folder.file, O_RDONLY | O_NONBLOCK)
        if flock(file.descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
        return Errno.last != .wouldBlock && time(nil).subtractingSaturated(status.st_mtim.tv_sec) > longest
    }
}
