package import Files
import FolderWatch
import Glibc
import PipelineKit
import SystemPackage

extension Spool {
    /// Brings a claimed drop's marker into its job's folder, unless it is there. It comes after the drop: a job whose
    /// claim was interrupted in between is adopted, and this is done then. A marker for a whole folder stays, and
    /// one that several drops need goes with the last of them.
    ///
    /// `isNeeded`: whether other drops need it; nil: that is found out.
    func fetchMarker(of job: Job, isNeeded: Bool? = nil) throws(IOError) {
        guard let rule = pipeline.ready.markerBeside, !rule.isShared, let name = rule.name(for: job.drop.name) else {
            return
        }
        let inbox: OpenInbox.Opened
        do throws(IOError) {
            // Name by name: a folder may have become a symbolic link to one that senders must not empty.
            inbox = try OpenInbox(pipeline.inbox).open(InboxFolder(job.drop.folders))
        } catch {
            guard error.isUnreachable else { throw error }
            return
        }
        guard Self.isFile(name, in: inbox.file), try Self.marker(in: job.folder) == nil else { return }
        let stays: Bool
        if let isNeeded { stays = isNeeded } else { stays = try pipeline.drop(needing: name, in: inbox.file) != nil }
        guard !stays else { return }
        let folder = job.folder.appending(Self.markerFolder)
        try Folder.make(folder, mode: 0o700)
        // If it has been removed since it was seen, it has served its purpose.
        if let error = Self.take(name, in: inbox.file, as: folder.appending(name)), error != .noSuchFileOrDirectory {
            throw IOError("rename", inbox.file.path.appending(name), error)
        }
    }

    private static func isFile(_ name: FileName, in folder: borrowing OpenFile) -> Bool {
        FileStatus.of(name, in: folder).map { FileKind(mode: $0.st_mode) } == .regular
    }

    /// The marker in a job's folder.
    static func marker(in folder: FilePath) throws(IOError) -> FilePath? {
        let markers = folder.appending(markerFolder)
        guard Folder.kind(of: markers) == .folder else { return nil }
        return try Folder.names(in: markers).first.map { markers.appending($0) }
    }

    /// The subfolder of a job's folder that contains its drop's marker.
    static let markerFolder: FilePath.Component = ".marker"
}

extension Pipeline {
    /// A drop in an open inbox folder that needs this marker; nil if there is none.
    package func drop(needing marker: FileName, in folder: borrowing OpenFile) throws(IOError) -> FileName? {
        guard let rule = ready.markerBeside else { return nil }
        var found: FileName?
        try Folder.forEachEntry(of: folder) { (name, _) throws(IOError) in
            if found == nil, rule.name(for: name) == marker, !rule.isMarker(name), match.verdict(on: name) == .taken {
                found = name
            }
        }
        return found
    }
}
