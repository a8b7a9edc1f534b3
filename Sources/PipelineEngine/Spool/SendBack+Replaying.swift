import Files
import FolderWatch
import Glibc
import Journal
import PipelineKit
import SystemPackage

/// Processed originals once more: a copy goes into the inbox, and the original stays where it is.
extension SendBack {
    /// Sends in a copy of a processed job's original, unless that is not what it was, under its drop's name, numbered
    /// where that is taken.
    func replay(
        _ record: JobRecord, verify: Verification, note: (Note) throws(Refusal) -> Void
    ) throws(Refusal) -> Sent {
        let original = try Self.processed(of: record)
        let file = try Self.open(original)
        let folder = try Self.refusing { () throws(IOError) in try home(of: record.drop) }
        let copy = try Self.refusing { () throws(IOError) in try HiddenCopy(of: record.id, in: folder) }
        do throws(Refusal) {
            try copy.make(from: file, for: inbox, isStopped: isStopped, note)
            let isWhole = try Self.refusing { () throws(IOError) in
                try copy.read { (descriptor) throws(IOError) in try verify(descriptor, record.digests) }
            }
            // Somebody may have written to it meanwhile.
            try Self.check(original, try Self.refusing { () throws(IOError) in try file.status() })
            guard isWhole else { throw Self.differs(original.path, "its digest is another") }
            let placed = try Self.place(copy, of: original.path, as: record.drop.name, in: folder)
            var unsynced: IOError?
            do throws(IOError) { try folder.sync() } catch { unsynced = error }
            return Sent(path: folder.path.appending(placed), leftover: unsynced)
        } catch {
            copy.remove()
            throw error
        }
    }

    /// Removes what a kill left of a copy, where it has not got its name yet; false where there is nothing.
    func removeLeftover(of record: JobRecord, as identity: FileIdentity) throws(IOError) -> Bool {
        try HiddenCopy.remove(identity, of: record.id, in: try formerHome(of: record.drop))
    }

    /// Whether a copy has not got its name yet: it is being made, or a kill left it.
    func isHidden(_ identity: FileIdentity, of record: JobRecord) throws(IOError) -> Bool {
        try HiddenCopy.isHidden(identity, of: record.id, in: try formerHome(of: record.drop))
    }

    private func formerHome(of drop: Drop) throws(IOError) -> HeldFolder {
        var folder = HeldFolder(try OpenInbox.open(inbox))
        for name in drop.folders { folder = try HeldFolder(name, in: folder) }
        return folder
    }

    /// Why no copy of it would be sent in, as far as that shows without reading it; nil if one would.
    static func objection(to record: JobRecord) -> Refusal? {
        do throws(Refusal) {
            _ = try processed(of: record)
            return nil
        } catch {
            return error
        }
    }

    /// A processed job's original, unless it is seen not to be that any more.
    private static func processed(of record: JobRecord) throws(Refusal) -> Original {
        guard let path = record.original, let own = path.lastName else {
            throw Refusal("its original was deleted, or published as an output; drop it again")
        }
        let original = try refusing { () throws(IOError) in try hold(path, own, record) }
        guard let found = try refusing({ () throws(IOError) in try original.folder.status(of: own) }) else {
            throw Refusal("its original '\(original.path.text)' is gone; drop it again")
        }
        guard FileKind(mode: found.st_mode) != .folder else {
            throw Refusal("its original '\(original.path.text)' is a folder; copy it into the inbox by hand")
        }
        try check(original, found)
        return original
    }

    private static func open(_ original: Original) throws(Refusal) -> OpenFile {
        let file = try refusing { () throws(IOError) in
            try OpenFile.open(original.name, in: original.folder.folder.file, O_RDONLY | O_NONBLOCK)
        }
        try check(original, try refusing { () throws(IOError) in try file.status() })
        return file
    }

    private static func check(_ original: Original, _ status: stat) throws(Refusal) {
        if let difference = difference(original.record, status) { throw differs(original.path, difference) }
    }

    private static func differs(_ path: FilePath, _ why: String) -> Refusal {
        Refusal("'\(path.text)' is not what was processed (\(why)); check it, and drop it again by hand")
    }

    /// What tells the file from the one that was processed.
    private static func difference(_ record: JobRecord, _ found: stat) -> String? {
        guard FileKind(mode: found.st_mode) == .regular else { return "it is no regular file" }
        if record.history.contains(where: { $0.event == Transition.originalChanged }) { return "it was changed" }
        let now = FileState(found)
        guard let before = record.originalState?.file else {
            // An older Dropmill's.
            if now.size != record.drop.size { return "its size is another" }
            let isKnown = now.inode == record.identity.inode || !record.digests.isEmpty
            return isKnown ? nil : "the journal does not say what it looked like"
        }
        if now.size != before.size { return "its size is another" }
        if now.modified != before.modified { return "it was changed" }
        return now.inode == before.inode ? nil : "it is another file"
    }
}
