package import Files
import FolderWatch
import Glibc
package import Journal
import PipelineKit
package import SystemPackage

/// Sends failed originals back into an inbox, as if they were dropped again. Works beside a running daemon, which sees
/// only one rename into the inbox.
///
/// Senders own the folders of an inbox and may replace them at any time. So both ends of a move are held open:
/// the folder of the failed original, and the way from the inbox down, name by name.
package struct SendBack {
    /// The result for one original.
    package struct Sent: Sendable, Equatable {
        /// Its new path in the inbox.
        package let path: FilePath
        /// What could not be cleaned up afterwards; the original was sent anyway.
        package let leftover: IOError?
    }

    /// Why one stays where it is: a sentence with its remedy.
    package struct Refusal: Error, Sendable, Equatable {
        package let message: String

        package init(_ message: String) { self.message = message }
    }

    /// The inbox.
    package let inbox: FilePath
    /// Whether a copy that is being made is not wanted any more.
    let isStopped: () -> Bool

    /// Whether what a descriptor still gives has these digests, in hexadecimal by algorithm.
    package typealias Verification = (Int32, [String: String]) throws(IOError) -> Bool

    private static let reportSuffix = ".error.json"

    package init(inbox: FilePath, isStopped: @escaping () -> Bool = { false }) {
        self.inbox = inbox
        self.isStopped = isStopped
    }

    /// A failed original's place.
    struct Original {
        let folder: HeldFolder
        let name: FileName
        let record: JobRecord
        /// Whether no one else can have replaced it.
        let isOurs: Bool

        /// Whether it is what was put there. In a folder of ours it is, or was mended there. Else it must be the inode
        /// on record or, since `failed` may be on another file system than the drop was, a copy of its size.
        func isGenuine(_ status: stat) -> Bool {
            let isCopy = record.drop.size == status.st_size && status.st_nlink == 1
            return isOurs || record.identity.inode == status.st_ino
                || isCopy && FileKind(mode: status.st_mode) == .regular
        }

        var path: FilePath { folder.path.appending(name) }
    }

    /// Which file comes into the inbox, before it does.
    package enum Note: Sendable, Equatable {
        case comes(SentFile)
        /// It was to come, and is gone.
        case isGone(FileIdentity)
    }

    /// Sends a failed job's original in, under its drop's name, numbered where that is taken. If `note` throws, the
    /// original stays. `earlier`: copies of it that were to come before, and are not known to have been claimed.
    package func send(
        _ record: JobRecord, earlier: () throws(Refusal) -> [FileIdentity] = { [] },
        note: (Note) throws(Refusal) -> Void
    ) throws(Refusal) -> Sent {
        guard let path = record.original, let own = path.lastName else {
            throw Refusal("its original is unknown; drop it again")
        }
        let original = try Self.refusing { () throws(IOError) in try Self.hold(path, own, record) }
        // Once in the inbox it may fail again, and then the files at these places belong to the next job.
        var before = try Self.refusing { () throws(IOError) in try Self.reports(beside: original) }
        let status = try Self.refusing { () throws(IOError) in try Self.examine(original) }
        let folder = try Self.refusing { () throws(IOError) in try home(of: record.drop) }
        let identity = FileIdentity(status)
        try note(.comes(SentFile(identity, into: inbox, like: status)))
        let name = record.drop.name
        if let placed = try Self.refusing({ () throws(IOError) in
            try Self.place(original.name, of: original.folder, as: name, in: folder)
        }) {
            return Sent(
                path: folder.path.appending(placed), leftover: tidy(after: original, sentTo: placed, in: folder, before)
            )
        }
        guard FileKind(mode: status.st_mode) == .regular else {
            throw Refusal("'\(path.text)' is a folder on a different file system from the inbox; move it there by hand")
        }
        let source = try Self.refusing { () throws(IOError) in try Self.lock(original, identity) }
        defer { _ = flock(source.descriptor, LOCK_UN) }
        // Only a copy leaves the original behind; one that was moved and fails again comes back as the same inode.
        before[original.name] = identity
        let known = try earlier()
        if let placed = try Self.refusing({ () throws(IOError) in try Self.find(known, like: name, in: folder) }) {
            // Only the original was left to be removed.
            return Sent(
                path: folder.path.appending(placed), leftover: tidy(after: original, sentTo: placed, in: folder, before)
            )
        }
        // Another file system, or another mount of the same one: a hidden copy, which no inbox takes, gets the name.
        let copy = try Self.refusing { () throws(IOError) in try HiddenCopy(of: record.id, in: folder) }
        do throws(Refusal) {
            try copy.make(from: source, for: inbox, isStopped: isStopped, note)
            let placed = try Self.place(copy, of: path, as: name, in: folder)
            return Sent(
                path: folder.path.appending(placed), leftover: tidy(after: original, sentTo: placed, in: folder, before)
            )
        } catch {
            copy.remove()
            throw error
        }
    }

    static func hold(_ path: FilePath, _ name: FileName, _ record: JobRecord) throws(IOError) -> Original {
        do throws(IOError) {
            // `failed` is as configured; senders may have changed what is below it, so no link is followed there.
            var folders = path.removingLastComponent()
            let below = folders.components.suffix(record.drop.folders.count).compactMap { FileName($0) }
            for _ in below { folders.removeLastComponent() }
            var folder = try HeldFolder(folders)
            var isOurs = try folder.isOurs()
            for name in below {
                folder = try HeldFolder(name, in: folder)
                if try !folder.isOurs() { isOurs = false }
            }
            return Original(folder: folder, name: name, record: record, isOurs: isOurs)
        } catch {
            throw IOError("examine", path, error.errno)
        }
    }

    /// Opens an original, locked (flock(2)) as long as a copy of it is on its way and it is not removed: of two at once
    /// each would send it. Where another one was quicker it has not its name any more.
    private static func lock(_ original: Original, _ identity: FileIdentity) throws(IOError) -> OpenFile {
        let file = try OpenFile.open(original.name, in: original.folder.folder.file, O_RDONLY | O_NONBLOCK)
        // Not every file system has locks for readers.
        if flock(file.descriptor, LOCK_EX | LOCK_NB) != 0, Errno.last == .wouldBlock {
            throw IOError("lock", original.path, .wouldBlock)
        }
        guard FileIdentity(try file.status()) == identity, try original.folder.identity(of: original.name) == identity
        else { throw IOError("examine", original.path, .noSuchFileOrDirectory) }
        return file
    }

    /// What follows once it is in the inbox: its name is brought to the disk before the copied original goes, and the
    /// report that lay beside it is about a job that is over. Its marker follows it, under the name that fits.
    private func tidy(
        after original: Original, sentTo name: FileName, in folder: HeldFolder, _ before: [FileName: FileIdentity]
    ) -> IOError? {
        do throws(IOError) {
            let origin = original.folder
            for marker in try Self.markers(beside: original) {
                guard let target = Self.name(of: marker, beside: original.name, for: name) else { continue }
                if try Self.place(marker, of: origin, as: target, in: folder) != nil { continue }
                let copy = try HiddenCopy(of: original.record.id, as: "marker", in: folder)
                try copy.fill(marker, of: origin)
                _ = try Self.place(copy.name, of: folder, as: target, in: folder)
                try origin.remove(marker)
            }
            try folder.sync()
            for (name, identity) in before where try origin.identity(of: name) == identity { try origin.remove(name) }
            try origin.sync()
            return nil
        } catch {
            return error
        }
    }

    /// The names of what was published beside a failed original.
    private static func beside(_ original: Original) -> [FileName] {
        let folder = original.record.original?.removingLastComponent()
        return original.record.outputs.filter { $0.removingLastComponent() == folder }.compactMap(\.lastName)
    }

    private static func isReport(_ name: FileName) -> Bool {
        name.bytes.suffix(reportSuffix.utf8.count).elementsEqual(reportSuffix.utf8)
    }

    /// The files beside a failed original that are not reports: its marker.
    private static func markers(beside original: Original) throws(IOError) -> [FileName] {
        var markers: [FileName] = []
        for name in beside(original) where !isReport(name) {
            guard let status = try original.folder.status(of: name) else { continue }
            if FileKind(mode: status.st_mode) == .regular { markers.append(name) }
        }
        return markers
    }

    /// The marker's name for the name that its drop has now: what is the drop's name or stem in it changes with that.
    private static func name(of marker: FileName, beside before: FileName, for now: FileName) -> FileName? {
        for (old, new) in [(before.bytes, now.bytes), (before.stem, now.stem)] {
            guard let range = marker.bytes.firstRange(of: old) else { continue }
            return FileName(marker.bytes[..<range.lowerBound] + new + marker.bytes[range.upperBound...])
        }
        return marker
    }

    /// The reports beside a failed original, with their inodes: as recorded, else found by name.
    private static func reports(beside original: Original) throws(IOError) -> [FileName: FileIdentity] {
        var names = beside(original).filter(isReport)
        if names.isEmpty { names = [original.name.appending(reportSuffix, unique: original.record.id.text)] }
        var reports: [FileName: FileIdentity] = [:]
        for name in names { reports[name] = try original.folder.identity(of: name) }
        return reports
    }

    /// The state of a regular file, or of a folder.
    private static func examine(_ original: Original) throws(IOError) -> stat {
        guard let status = try original.folder.status(of: original.name) else {
            throw IOError("examine", original.path, .noSuchFileOrDirectory)
        }
        let kind = FileKind(mode: status.st_mode)
        guard kind == .regular || kind == .folder else { throw IOError("send in", original.path, .invalidArgument) }
        guard original.isGenuine(status) else { throw IOError("recognize", original.path, .staleNFSFileHandle) }
        return status
    }
}
