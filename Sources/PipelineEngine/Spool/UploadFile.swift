import CLinux
package import Files
import FolderWatch
import Glibc
package import PipelineKit
import SystemPackage

/// A file on its way into an inbox from another process: under a hidden name, which no inbox takes, until all of it is
/// there. It is ours, and written through a descriptor that is passed on. It is locked (flock(2)) as long as it comes;
/// what is not locked was left by a kill.
package final class UploadFile: Sendable {
    package let path: DropPath
    package let size: Int64
    /// The file system that it is on.
    package let device: UInt64
    let top: HeldFolder
    private let name: FileName
    private let identity: FileIdentity
    /// For reading alone: so a lease shows whoever else has it open for writing.
    private let file: OpenFile

    private init(_ path: DropPath, _ size: Int64, in top: HeldFolder, device: UInt64) throws(IOError) {
        (self.path, self.size, self.top, self.device) = (path, size, top, device)
        name = UploadLeftovers.newName()
        // As readable as others let the drops be that they make.
        file = try OpenFile.open(name, in: top.folder.file, O_RDONLY | O_CREAT | O_EXCL, mode: 0o644)
        identity = FileIdentity(try file.status())
        // Not every file system has locks for who only reads; there its age tells what was left.
        _ = flock(file.descriptor, LOCK_EX | LOCK_NB)
    }

    /// Begins one, empty. `promised`: how many bytes of others are still to come to a file system.
    package static func begin(
        _ path: DropPath, size: Int64, into spool: Spool, promised: (_ device: UInt64) -> Int64
    ) throws(UploadRefusal) -> UploadFile {
        try checkInbox(of: spool)
        let inbox = spool.pipeline.inbox
        let top = try refusing { () throws(IOError) in HeldFolder(try OpenInbox.open(inbox)) }
        let device = try refusing { () throws(IOError) in FileIdentity(try top.folder.file.status()).device }
        let folder = try way(to: path.folder, from: top, device)
        if let folder, try refusing({ () throws(IOError) in try folder.status(of: path.name) }) != nil {
            throw taken(path)
        }
        let floor = spool.pipeline.minFree
        let needed = size.addingSaturated(promised(device)).addingSaturated(floor.bytes)
        if let free = FreeSpace.space(at: inbox)?.free, free < UInt64(clamping: needed) {
            throw UploadRefusal(
                .noSpace,
                "only \(ByteSize(bytes: Int64(clamping: free))) is free on the file system of the inbox, of which "
                    + "'min_free' keeps \(floor)",
                remedy: "Free space there, or send a smaller file.")
        }
        return try refusing { () throws(IOError) in try UploadFile(path, size, in: top, device: device) }
    }

    /// Opens it once more, for whoever writes it.
    package func openForWriting() throws(UploadRefusal) -> OpenFile {
        try Self.refusing { () throws(IOError) in
            try OpenFile.open(FilePath("/proc/self/fd/\(file.descriptor)"), O_WRONLY)
        }
    }

    /// Gives it its name, once all of it is there and nobody can write to it any more.
    package func finish(into spool: Spool) throws(UploadRefusal) {
        try checkContent()
        try Self.checkInbox(of: spool)
        let inbox = FileIdentity.of(spool.pipeline.inbox, followingLinks: true)
        let isDurable = spool.pipeline.durability == .full
        let (now, found) = try Self.refusing { () throws(IOError) in
            (FileIdentity(try top.folder.file.status()), try top.identity(of: name))
        }
        guard now == inbox, found == identity else { throw replaced() }
        if isDurable { try Self.refusing { () throws(IOError) in try file.sync() } }
        let folders = try makeWay()
        guard let folder = folders.last else { throw replaced() }
        do throws(IOError) {
            try top.move(name, to: path.name, in: folder)
        } catch {
            switch error.errno {
            case .fileExists: throw Self.taken(path)
            case .improperLink: throw Self.elsewhere(path.folder.path?.text ?? "")
            default: throw Self.refusal(error)
            }
        }
        // From here on it is a drop, whatever fails. Its name may be gone again, since a daemon claims at once.
        if let placed = try? folder.identity(of: path.name), placed != identity { throw replaced() }
        guard isDurable else { return }
        do throws(IOError) {
            for folder in folders.reversed() { try folder.sync() }
        } catch {
            throw UploadRefusal(
                .unsure, "it is in the inbox, but a power cut may undo that: \(error)",
                remedy: "Do not send it again unless it is missing there later.")
        }
    }

    /// It does not come after all.
    package func remove() {
        do throws(IOError) { if try top.identity(of: name) == identity { try top.remove(name) } } catch {}
    }

    private func checkContent() throws(UploadRefusal) {
        let there = try Self.refusing { () throws(IOError) in try file.status().st_size }
        guard there == size else {
            throw UploadRefusal(
                .otherLength, "\(there) bytes have come, and \(size) were announced", remedy: "Send it again, whole.")
        }
        guard dm_probe_read_lease(file.descriptor) != 0, Errno.last == .resourceTemporarilyUnavailable else { return }
        throw UploadRefusal(
            .stillOpen, "it is still open for writing", remedy: "Close its descriptor before it is finished.")
    }

    private func replaced() -> UploadRefusal {
        UploadRefusal(.failed, "it was replaced in the inbox while it came", remedy: "Send it again.")
    }

    // MARK: Its folder

    /// The folder, where it is there; nil where it is still to be made.
    private static func way(
        to folder: InboxFolder, from top: HeldFolder, _ device: UInt64
    ) throws(UploadRefusal) -> HeldFolder? {
        var here = top
        for name in folder.names {
            do throws(IOError) {
                guard let status = try here.status(of: name) else { return nil }
                guard FileKind(mode: status.st_mode) == .folder else { throw IOError("open", here.path, .notDirectory) }
                here = try HeldFolder(name, in: here)
                guard FileIdentity(status).device == device else { throw IOError("open", here.path, .improperLink) }
            } catch {
                throw folderRefusal(error, name)
            }
        }
        return here
    }

    /// The folders from the inbox on to the one that it goes to, made where they are not there.
    private func makeWay() throws(UploadRefusal) -> [HeldFolder] {
        var folders = [top]
        for name in path.folder.names {
            let next: HeldFolder?
            do throws(IOError) {
                next = try folders.last?.makeFolder(name)
            } catch {
                throw Self.folderRefusal(error, name)
            }
            guard let next else { throw Self.noFolder(name) }
            folders.append(next)
        }
        return folders
    }

    private static func folderRefusal(_ error: IOError, _ name: FileName) -> UploadRefusal {
        if error.errno == .improperLink { return elsewhere(name.text) }
        return error.isUnreachable ? noFolder(name) : refusal(error)
    }

    private static func noFolder(_ name: FileName) -> UploadRefusal {
        UploadRefusal(
            .nameRefused, "'\(name.text)' in the inbox is no folder, and links are not followed",
            remedy: "Send it under another path.")
    }

    private static func elsewhere(_ folder: String) -> UploadRefusal {
        UploadRefusal(
            .nameRefused, "another file system is mounted at '\(folder)' in the inbox",
            remedy: "Send it under another path.")
    }

    private static func taken(_ path: DropPath) -> UploadRefusal {
        UploadRefusal(.nameTaken, "'\(path.text)' is in the inbox already", remedy: "Send it under another name.")
    }

    // MARK: What goes wrong

    private static func checkInbox(of spool: Spool) throws(UploadRefusal) {
        do throws(Failure) { try spool.checkInbox() } catch { throw UploadRefusal(error) }
    }

    private static func refusing<Result: ~Copyable>(
        _ body: () throws(IOError) -> Result
    ) throws(UploadRefusal) -> Result {
        do throws(IOError) { return try body() } catch { throw refusal(error) }
    }

    private static func refusal(_ error: IOError) -> UploadRefusal {
        switch error.errno {
        case .noSpace, .diskQuotaExceeded:
            UploadRefusal(.noSpace, "\(error)", remedy: "Free space there, or send a smaller file.")
        case .fileNameTooLong: UploadRefusal(.nameRefused, "\(error)", remedy: "Give it a shorter name.")
        default: UploadRefusal(.failed, "\(error)", remedy: "Try again once that is fixed.")
        }
    }
}
