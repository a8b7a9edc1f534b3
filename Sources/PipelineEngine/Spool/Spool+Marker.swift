import Glibc
package import PipelineKit
import SystemPackage

extension Spool {
    /// Brings a claimed drop's marker into its job's folder, unless it is there. It comes after the drop: a job whose
    /// claim was broken off in between is adopted, and this is done then. One that speaks for a whole folder stays, and
    /// one that several drops need goes with the last of them.
    ///
    /// `isNeeded`: whether other drops need it; nil: that is found out.
    func fetchMarker(of job: Job, isNeeded: Bool? = nil) throws(IOError) {
        guard let rule = pipeline.ready.markerBeside, !rule.isShared, let name = rule.name(for: job.drop.name) else {
            return
        }
        let inbox: OpenInbox.Opened
        do throws(IOError) {
            // Name by name: what was a folder may be a symbolic link by now, to one that is not the senders' to empty.
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
        // Where somebody took it away since it was seen, it has said what it had to say.
        if let error = Self.take(name, in: inbox.file, as: folder.appending(name)), error != .noSuchFileOrDirectory {
            throw IOError("rename", inbox.file.path.appending(name), error)
        }
    }

    private static func isFile(_ name: FileName, in folder: borrowing OpenFile) -> Bool {
        var status = stat()
        let descriptor = folder.descriptor
        return name.withCString { fstatat(descriptor, $0, &status, AT_SYMLINK_NOFOLLOW) } == 0
            && FileKind(mode: status.st_mode) == .regular
    }

    /// The marker that lies in a job's folder.
    static func marker(in folder: FilePath) throws(IOError) -> FilePath? {
        let markers = folder.appending(markerFolder)
        guard Folder.kind(of: markers) == .folder else { return nil }
        return try Folder.names(in: markers).first.map { markers.appending($0) }
    }

    /// Where in a job's folder its drop's marker lies, under its own name.
    static let markerFolder: FilePath.Component = ".marker"
}

extension Pipeline {
    /// A drop in an open folder of the inbox that needs the marker of this name; nil where there is none.
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

/// Why a job is to fail without running, in its folder, from before its drop is there: should the process die before
/// the journal knows, the job is found as what it is.
enum Condemnation {
    private static let name: FilePath.Component = ".condemned"
    private static let draft: FilePath.Component = ".condemned-draft"
    /// What it leaves in a job's folder.
    static let names = [name.string, draft.string]

    /// Writes it down.
    static func write(_ failure: StageFailure, in folder: FilePath) throws(IOError) {
        var json = JSONText()
        json.failure(failure)
        let path = folder.appending(draft)
        let file = try OpenFile.open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, mode: 0o600)
        try file.write(json.bytes)
        try file.close()
        try NoReplace.rename(path, to: folder.appending(name))
    }

    /// The reason that is written down, if any.
    static func read(in folder: FilePath) throws(IOError) -> StageFailure? {
        let path = folder.appending(name)
        guard Folder.kind(of: path) == .regular else { return nil }
        let text = String(decoding: try SmallFile.read(path, atMost: 1 << 20), as: UTF8.self)
        return JSONValue(text)?.failure
            ?? .file(
                "ready.timeout", "The drop was not complete in time.", remedy: "Drop it again as a whole.",
                detail: "the reason that was written down cannot be read")
    }
}

extension Recovery {
    /// Hidden entries of a job's folder that are not of its stages' making.
    static let kept: Set<String> = [".marker", ".condemned", Origin.name, Spool.senderNote.string]
}
