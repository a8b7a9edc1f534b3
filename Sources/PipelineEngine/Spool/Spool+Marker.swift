import Glibc
import PipelineKit
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
        let inbox = job.drop.folders.reduce(pipeline.inbox) { $0.appending($1) }
        let marker = inbox.appending(name)
        guard Folder.kind(of: marker) == .regular, try Self.marker(in: job.folder) == nil else { return }
        let stays: Bool
        if let isNeeded { stays = isNeeded } else { stays = try needs(marker: name, by: rule, in: inbox) }
        guard !stays else { return }
        let folder = job.folder.appending(Self.markerFolder)
        try Folder.make(folder, mode: 0o700)
        do throws(IOError) {
            try NoReplace.rename(marker, to: folder.appending(name))
        } catch {
            // Somebody took it away since it was seen: it has said what it had to say.
            guard error.errno == .noSuchFileOrDirectory else { throw error }
        }
    }

    /// Whether a drop in the folder needs the marker.
    private func needs(marker: FileName, by rule: MarkerRule, in folder: FilePath) throws(IOError) -> Bool {
        try Folder.names(in: folder).contains { name in
            rule.name(for: name) == marker && !rule.isMarker(name) && pipeline.match.verdict(on: name) == .taken
        }
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

/// Why a job is to fail without running, in its folder, from before its drop is there: should the process die before
/// the journal knows, the job is found as what it is.
enum Condemnation {
    private static let name: FilePath.Component = ".condemned"
    private static let draft: FilePath.Component = ".condemned-draft"

    /// Writes it down.
    static func write(_ failure: StageFailure, in folder: FilePath) throws(IOError) {
        var writer = JSONWriter()
        writer.failure(failure)
        let path = folder.appending(draft)
        let file = try OpenFile.open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, mode: 0o600)
        try file.write(Array(writer.text.utf8))
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
    static let kept: Set<String> = [".marker", ".condemned", Origin.name]
}
