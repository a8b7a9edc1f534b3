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
package struct SendBack: Sendable {
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

    private static let reportSuffix = ".error.json"

    /// The most numbers that are tried for a name in use.
    private static let mostNames = 10_000

    package init(inbox: FilePath) { self.inbox = inbox }

    /// A failed original's place.
    private struct Original {
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

    /// Sends a failed job's original in, under its drop's name, numbered where that is taken. `note` receives the
    /// inode that will appear in the inbox; if it throws, the original stays.
    package func send(
        _ record: JobRecord, note: (FileIdentity) throws(Refusal) -> Void
    ) throws(Refusal) -> Sent {
        guard let path = record.original, let own = path.lastName else {
            throw Refusal("its original is unknown; drop it again")
        }
        let original = try Self.refusing { () throws(IOError) in try Self.hold(path, own, record) }
        // Once in the inbox it may fail again, and then the files at these places belong to the next job.
        var before = try Self.refusing { () throws(IOError) in try Self.reports(beside: original) }
        let (identity, kind) = try Self.refusing { () throws(IOError) in try Self.examine(original) }
        let folder = try Self.refusing { () throws(IOError) in try home(of: record.drop) }
        try note(identity)
        let name = record.drop.name
        if let placed = try Self.refusing({ () throws(IOError) in
            try Self.place(original.name, of: original.folder, as: name, in: folder)
        }) {
            return Sent(
                path: folder.path.appending(placed), leftover: tidy(after: original, sentTo: placed, in: folder, before)
            )
        }
        guard kind != .folder else {
            throw Refusal("'\(path.text)' is a folder on a different file system from the inbox; move it there by hand")
        }
        // Only a copy leaves the original behind; one that was moved and fails again comes back as the same inode.
        before[original.name] = identity
        // Another file system, or another mount of the same one: a hidden copy, which no inbox takes, gets the name.
        let copy = try Self.refusing { () throws(IOError) in
            try Self.copy(original.name, of: original.folder, to: folder, as: "\(record.id.text).partial")
        }
        do throws(Refusal) {
            try note(copy.identity)
            let placed = try Self.refusing { () throws(IOError) in
                try Self.place(copy.name, of: folder, as: name, in: folder)
            }
            // Senders may rename files in their folder: the original is removed only if the copy is verified.
            guard let placed,
                try Self.refusing({ () throws(IOError) in try folder.identity(of: placed) })
                    == copy.identity
            else { throw Refusal("the copy of '\(path.text)' was replaced in '\(inbox.text)'; try again") }
            return Sent(
                path: folder.path.appending(placed), leftover: tidy(after: original, sentTo: placed, in: folder, before)
            )
        } catch {
            // One more hidden file does no harm; the next attempt removes it first.
            do throws(IOError) { try folder.remove(copy.name) } catch {}
            throw error
        }
    }

    private static func hold(_ path: FilePath, _ name: FileName, _ record: JobRecord) throws(IOError) -> Original {
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

    /// The folder of the inbox that the drop was in, recreated if it is gone. If something else has the name of
    /// such a folder, even a link, the drop goes to the top of the inbox: nothing leads out of the inbox.
    private func home(of drop: Drop) throws(IOError) -> HeldFolder {
        let top = HeldFolder(try OpenInbox.open(inbox))
        var folder = top
        for name in drop.folders {
            guard let next = try folder.makeFolder(name) else { return top }
            folder = next
        }
        return folder
    }

    /// Renames the file into the folder and returns its name; nil if a rename cannot reach it.
    private static func place(
        _ source: FileName, of origin: HeldFolder, as name: FileName, in folder: HeldFolder
    ) throws(IOError) -> FileName? {
        for number in 1...mostNames {
            let target = number == 1 ? name : name.numbered(number)
            do throws(IOError) {
                try origin.move(source, to: target, in: folder)
                return target
            } catch {
                switch error.errno {
                case .fileExists: continue
                case .improperLink: return nil
                default: throw error
                }
            }
        }
        throw IOError("send in", folder.path.appending(name), .fileExists)
    }

    /// Makes a complete, synced copy under a hidden name; returns its identity.
    private static func copy(
        _ name: FileName, of origin: HeldFolder, to folder: HeldFolder, as hidden: String
    ) throws(IOError) -> (name: FileName, identity: FileIdentity) {
        guard let copy = FileName(".dropmill-" + hidden) else { throw IOError("copy", origin.path, .invalidArgument) }
        // Left by an interrupted attempt.
        try folder.remove(copy)
        let from = try OpenFile.open(name, in: origin.folder.file, O_RDONLY | O_NONBLOCK)
        let to = try OpenFile.open(copy, in: folder.folder.file, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
        try Transfer.copyFile(from, to: to)
        try to.sync()
        let identity = FileIdentity(try to.status())
        try to.close()
        return (copy, identity)
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
                let copy = try Self.copy(marker, of: origin, to: folder, as: "\(original.record.id.text).marker")
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

    /// The inode and kind of a regular file, or of a folder.
    private static func examine(_ original: Original) throws(IOError) -> (FileIdentity, FileKind) {
        guard let status = try original.folder.status(of: original.name) else {
            throw IOError("examine", original.path, .noSuchFileOrDirectory)
        }
        let kind = FileKind(mode: status.st_mode)
        guard kind == .regular || kind == .folder else { throw IOError("send in", original.path, .invalidArgument) }
        guard original.isGenuine(status) else { throw IOError("recognize", original.path, .staleNFSFileHandle) }
        return (FileIdentity(status), kind)
    }

    /// Turns a failed call into a message with its remedy.
    private static func refusing<Result>(_ body: () throws(IOError) -> Result) throws(Refusal) -> Result {
        do throws(IOError) {
            return try body()
        } catch {
            let remedy =
                switch error.errno {
                case .noSuchFileOrDirectory:
                    error.action == "examine" ? "it was already moved or sent" : "create the folder again"
                case .permissionDenied, .notPermitted: "do this as Dropmill's user"
                case .noSpace, .diskQuotaExceeded: "free space there and try again"
                case .notDirectory, .tooManySymbolicLinkLevels:
                    "links to it are not followed; move it into the inbox by hand"
                case .staleNFSFileHandle where error.action == "recognize":
                    "it is no longer the file that failed; check it, and drop it again by hand"
                case .invalidArgument: "only a regular file or a folder can be sent"
                default: "try again once that is fixed"
                }
            throw Refusal("\(error); \(remedy)")
        }
    }
}
