import Files
import Glibc
import Journal
import PipelineKit
import SystemPackage

/// A copy on its way into an inbox, under a hidden name, which no inbox takes. It bears the id of the job that it is
/// made for, so that what is left of it after a kill is known again. It is locked (flock(2)) as long as it is made;
/// what is not locked was left by a kill.
final class HiddenCopy {
    let name: FileName
    let identity: FileIdentity
    /// What an interrupted attempt had left, and is removed.
    private let left: FileIdentity?
    private let file: OpenFile
    private let folder: HeldFolder

    /// Begins it, empty, unless another process is making one.
    init(of job: JobID, as word: String = HiddenCopy.usual, in folder: HeldFolder) throws(IOError) {
        name = try Self.name(of: job, word, in: folder)
        left = try Self.clear(name, in: folder)
        file = try Self.open(name, in: folder, O_CREAT | O_EXCL)
        identity = FileIdentity(try file.status())
        self.folder = folder
    }

    private static let usual = "partial"

    /// Makes it whole, on the disk. Says that it comes, before there is anything in it, and that what was left of
    /// another does not.
    func make(
        from source: borrowing OpenFile, for inbox: FilePath, isStopped: () -> Bool,
        _ note: (SendBack.Note) throws(SendBack.Refusal) -> Void
    ) throws(SendBack.Refusal) {
        if let left, left != identity { try note(.isGone(left)) }
        let expected = try status(of: source)
        try note(.comes(SentFile(identity, into: inbox, like: expected)))
        do throws(IOError) { try fill(from: source, isStopped) } catch { throw SendBack.refusal(error) }
        // Not every file system keeps a time as it is given.
        let made = SentFile(identity, into: inbox, like: try status(of: file))
        if made != SentFile(identity, into: inbox, like: expected) { try note(.comes(made)) }
    }

    private func status(of file: borrowing OpenFile) throws(SendBack.Refusal) -> stat {
        do throws(IOError) { return try file.status() } catch { throw SendBack.refusal(error) }
    }

    /// Makes it whole, on the disk.
    func fill(_ source: FileName, of origin: HeldFolder) throws(IOError) {
        try fill(from: try OpenFile.open(source, in: origin.folder.file, O_RDONLY | O_NONBLOCK))
    }

    private func fill(from source: borrowing OpenFile, _ isStopped: () -> Bool = { false }) throws(IOError) {
        try Transfer.copyFile(source, to: file, isStopped: isStopped)
        try file.sync()
    }

    /// Calls the body with its descriptor, at its beginning.
    func read<Result>(_ body: (Int32) throws(IOError) -> Result) throws(IOError) -> Result {
        guard lseek(file.descriptor, 0, SEEK_SET) == 0 else { throw IOError("read", file.path, .last) }
        return try body(file.descriptor)
    }

    /// Whether nobody has replaced it.
    func hasItsName() throws(IOError) -> Bool { try folder.identity(of: name) == identity }

    /// It is not wanted after all. One more hidden file does no harm; the next attempt removes it first.
    func remove() {
        do throws(IOError) { if try hasItsName() { try folder.remove(name) } } catch {}
    }

    /// Removes what a kill left of one; false where this inode has not its name. Throws where it is still made.
    static func remove(_ identity: FileIdentity, of job: JobID, in folder: HeldFolder) throws(IOError) -> Bool {
        guard try isHidden(identity, of: job, in: folder) else { return false }
        return try clear(try name(of: job, usual, in: folder), in: folder)?.inode == identity.inode
    }

    /// Whether this inode has the name that one for the job has until it is whole.
    static func isHidden(_ identity: FileIdentity, of job: JobID, in folder: HeldFolder) throws(IOError) -> Bool {
        try folder.identity(of: try name(of: job, usual, in: folder))?.inode == identity.inode
    }

    /// Removes what has the name, and returns what it was.
    private static func clear(_ name: FileName, in folder: HeldFolder) throws(IOError) -> FileIdentity? {
        guard let status = try folder.status(of: name) else { return nil }
        // Nothing else is ever one of ours.
        guard FileKind(mode: status.st_mode) == .regular else {
            try folder.remove(name)
            return FileIdentity(status)
        }
        let file = try open(name, in: folder, 0)
        try folder.remove(name)
        return FileIdentity(try file.status())
    }

    /// Opens it, locked. The name is looked at again: another process may have finished its own in between, or have
    /// taken this one for a leftover.
    private static func open(_ name: FileName, in folder: HeldFolder, _ flags: Int32) throws(IOError) -> OpenFile {
        let beingMade = IOError("lock", folder.path.appending(name), .wouldBlock)
        do throws(IOError) {
            let file = try OpenFile.open(name, in: folder.folder.file, O_RDWR | O_NONBLOCK | flags, mode: 0o600)
            guard flock(file.descriptor, LOCK_EX | LOCK_NB) == 0 else { throw IOError("lock", file.path, .last) }
            guard try folder.identity(of: name) == FileIdentity(try file.status()) else { throw beingMade }
            return file
        } catch {
            throw error.errno == (flags & O_CREAT == 0 ? .noSuchFileOrDirectory : .fileExists) ? beingMade : error
        }
    }

    private static func name(of job: JobID, _ word: String, in folder: HeldFolder) throws(IOError) -> FileName {
        guard let name = FileName(".dropmill-\(job.text).\(word)") else {
            throw IOError("copy", folder.path, .invalidArgument)
        }
        return name
    }
}
