package import Files
import FolderWatch
import Glibc
package import PipelineKit
import SystemPackage

/// What is on its way into an inbox from another process, a file or a folder: under a hidden name, which no inbox
/// takes, until all of it is there. It is ours, and written through descriptors that are passed on. It is locked
/// (flock(2)) as long as it comes; what is not locked was left by a kill.
package final class UploadDrop: Sendable {
    private enum Content {
        case file(UploadFile)
        case folder(UploadFolder)
    }

    package let path: DropPath
    package let size: Int64
    /// Of how many files it is; nil: it is one.
    package let files: Int?
    /// The file system that it is on.
    package let device: UInt64
    /// A name that no inbox takes.
    package let name: FileName
    let top: HeldFolder
    private let identity: FileIdentity
    private let content: Content

    private init(
        _ path: DropPath, _ size: Int64, files: Int?, in top: HeldFolder, device: UInt64, isDurable: Bool
    ) throws(IOError) {
        (self.path, self.size, self.files, self.top, self.device) = (path, size, files, top, device)
        name = UploadLeftovers.newName()
        let descriptor: Int32
        if let files {
            try top.make(name, mode: UploadLeftovers.comingMode)
            let folder = try HeldFolder(name, in: top)
            // Who may write to the inbox may have put another one in its place.
            guard try folder.isOurs() else { throw IOError("open", folder.path, .notPermitted) }
            identity = FileIdentity(try folder.folder.file.status())
            content = .folder(UploadFolder(folder, files: files, size: size, isDurable: isDurable))
            descriptor = folder.folder.file.descriptor
        } else {
            let file = try UploadFile(FilePath().appending(name), below: top, size: size)
            identity = FileIdentity(try file.file.status())
            content = .file(file)
            descriptor = file.file.descriptor
        }
        // Not every file system has locks for who only reads; there its age tells what was left.
        _ = flock(descriptor, LOCK_EX | LOCK_NB)
    }

    /// Begins one, empty. `files`: of how many it is where it is a folder; `promised`: how many bytes of others are
    /// still to come to a file system.
    package static func begin(
        _ path: DropPath, size: Int64, files: Int? = nil, into spool: Spool,
        promised: (_ device: UInt64) -> Int64
    ) throws(UploadRefusal) -> UploadDrop {
        try checkInbox(of: spool)
        let inbox = spool.pipeline.inbox
        let top = try UploadRefusal.refusing { () throws(IOError) in HeldFolder(try OpenInbox.open(inbox)) }
        let device = try UploadRefusal.refusing { () throws(IOError) in
            FileIdentity(try top.folder.file.status()).device
        }
        let folder = try way(to: path.folder, from: top, device)
        if let folder,
            try UploadRefusal.refusing({ () throws(IOError) in try folder.status(of: path.name) }) != nil
        {
            throw taken(path)
        }
        let floor = spool.pipeline.minFree
        let needed = size.addingSaturated(promised(device)).addingSaturated(floor.bytes)
        if let free = FreeSpace.space(at: inbox)?.free, free < UInt64(clamping: needed) {
            throw UploadRefusal(
                .noSpace,
                "only \(ByteSize(bytes: Int64(clamping: free))) is free on the file system of the inbox, of which "
                    + "'min_free' keeps \(floor)",
                remedy: "Free space there, or send less.")
        }
        let isDurable = spool.pipeline.durability == .full
        return try UploadRefusal.refusing { () throws(IOError) in
            try UploadDrop(path, size, files: files, in: top, device: device, isDurable: isDurable)
        }
    }

    /// Opens it for whoever writes it; nil where it is a folder.
    package func openForWriting() throws(UploadRefusal) -> OpenFile? {
        guard case .file(let file) = content else { return nil }
        return try file.openForWriting()
    }

    /// Begins a file in the folder that it is, and opens that; without a size it makes a folder there.
    package func part(_ path: DropPath, size: Int64?, in pipeline: Pipeline) throws(UploadRefusal) -> OpenFile? {
        guard case .folder(let folder) = content else {
            throw UploadRefusal(.otherUnit, "it is a file", remedy: "Begin a folder for several.")
        }
        if let size { return try folder.begin(path, size: size, in: pipeline) }
        try folder.make(path, in: pipeline)
        return nil
    }

    /// How many bytes have come of the files that are whole.
    package var arrived: Int64 { if case .folder(let folder) = content { folder.arrived } else { 0 } }

    /// Gives it its name, once all of it is there and nobody can write to it any more.
    package func finish(into spool: Spool) throws(UploadRefusal) {
        let isDurable = spool.pipeline.durability == .full
        switch content {
        case .file(let file): try file.checkContent()
        case .folder(let folder): try folder.finish()
        }
        try Self.checkInbox(of: spool)
        let inbox = FileIdentity.of(spool.pipeline.inbox, followingLinks: true)
        let (now, found) = try UploadRefusal.refusing { () throws(IOError) in
            (FileIdentity(try top.folder.file.status()), try top.identity(of: name))
        }
        guard now == inbox, found == identity else { throw replaced() }
        if isDurable, case .file(let file) = content {
            try UploadRefusal.refusing { () throws(IOError) in try file.file.sync() }
        }
        let folders = try makeWay()
        guard let folder = folders.last else { throw replaced() }
        do throws(IOError) {
            try top.move(name, to: path.name, in: folder)
        } catch {
            switch error.errno {
            case .fileExists: throw Self.taken(path)
            case .improperLink: throw Self.elsewhere(path.folder.path?.text ?? "")
            default: throw UploadRefusal(error)
            }
        }
        // From here on it is a drop, whatever fails.
        if case .folder(let folder) = content { folder.settle() }
        // Its name may be gone again, since a daemon claims at once.
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
        if case .folder(let folder) = content { folder.close() }
        do throws(IOError) {
            if try top.identity(of: name) == identity { try top.folder.remove(FilePath().appending(name)) }
        } catch {}
    }

    private func replaced() -> UploadRefusal {
        UploadRefusal(.failed, "it was replaced in the inbox while it came", remedy: "Send it again.")
    }

    private static func checkInbox(of spool: Spool) throws(UploadRefusal) {
        do throws(Failure) { try spool.checkInbox() } catch { throw UploadRefusal(error) }
    }
}
