import Glibc
package import PipelineKit
package import SystemPackage

/// Sends failed originals back into an inbox, as if they were dropped again. Works beside a running daemon: all that
/// meets it is one rename into the inbox.
package struct SendBack: Sendable {
    /// What became of one.
    package struct Sent: Sendable, Equatable {
        /// Where it lies now, in the inbox.
        package let path: FilePath
        /// What could not be tidied up afterwards; the original is sent in all the same.
        package let leftover: IOError?
    }

    /// Why one stays where it is: a sentence with its remedy.
    package struct Refusal: Error, Sendable, Equatable {
        /// The sentence.
        package let message: String

        /// A refusal.
        package init(_ message: String) { self.message = message }
    }

    /// The folder that they are sent into.
    package let inbox: FilePath

    private static let reportSuffix = ".error.json"

    /// Numbers that are tried where names are taken.
    private static let mostNames = 10_000

    /// Sends into this inbox.
    package init(inbox: FilePath) { self.inbox = inbox }

    /// Sends a failed job's original in, under its drop's name, numbered where that is taken. `note` is told which
    /// inode will appear in the inbox before it does; what it throws ends the matter, and the original stays.
    package func send(
        _ record: JobRecord, note: (FileIdentity) throws(Refusal) -> Void
    ) throws(Refusal) -> Sent {
        guard let original = record.original else { throw Refusal("nothing is known of its original; drop it again") }
        let name = record.drop.name
        // As soon as it is in the inbox it may fail again, and then what lies at these places is the next job's.
        var before = Self.identities(of: Self.reports(beside: original, of: record))
        try note(try Self.refusing { () throws(IOError) in try Self.identity(of: original) })
        let folder = try Self.refusing { () throws(IOError) in try home(of: record.drop) }
        if let path = try Self.refusing({ () throws(IOError) in try Self.place(original, as: name, in: folder) }) {
            return Sent(path: path, leftover: tidy(after: original, of: record, sentTo: path, before))
        }
        guard Folder.kind(of: original) != .folder else {
            throw Refusal("'\(original.text)' is a folder on another file system than the inbox; move it there by hand")
        }
        // Only a copy leaves the original behind; one that was moved and fails again comes back as the same inode.
        before[original] = FileIdentity.of(original)
        // Another file system, or another mount of the same one: a hidden copy, which no inbox takes, gets the name.
        let copy = inbox.appending(".dropmill-\(record.id.text).partial")
        let path: FilePath
        do throws(Refusal) {
            try note(try Self.refusing { () throws(IOError) in try Self.copy(original, to: copy) })
            guard let placed = try Self.refusing({ () throws(IOError) in try Self.place(copy, as: name, in: folder) })
            else {
                throw Refusal("cannot rename within '\(inbox.text)'; move '\(original.text)' there by hand")
            }
            path = placed
        } catch {
            // A hidden file more does no harm; the next try begins by removing it.
            _ = copy.withPlatformString { unlink($0) }
            throw error
        }
        return Sent(path: path, leftover: tidy(after: original, of: record, sentTo: path, before))
    }

    /// The folder of the inbox that the drop lay in, made anew where it is gone. Where something else has its name by
    /// now, the drop goes into what there still is of its path: nothing may lead out of the inbox.
    private func home(of drop: Drop) throws(IOError) -> FilePath {
        var folder = inbox
        for name in drop.folders {
            let next = folder.appending(name)
            if Folder.kind(of: next) == nil { try Folder.make(next) }
            guard Folder.kind(of: next) == .folder else { break }
            folder = next
        }
        return folder
    }

    /// Gives the file its name in the folder; nil where a rename cannot reach.
    private static func place(_ source: FilePath, as name: FileName, in folder: FilePath) throws(IOError) -> FilePath? {
        for number in 1...mostNames {
            let target = folder.appending(number == 1 ? name : name.numbered(number))
            do throws(IOError) {
                try NoReplace.rename(source, to: target)
                return target
            } catch {
                switch error.errno {
                case .fileExists: continue
                case .improperLink: return nil
                default: throw error
                }
            }
        }
        throw IOError("send in", folder.appending(name), .fileExists)
    }

    /// Makes a whole copy that is on the disk; returns what it is.
    private static func copy(_ original: FilePath, to copy: FilePath) throws(IOError) -> FileIdentity {
        // One from a try that was interrupted.
        try Folder.remove(copy)
        try Transfer.copyFile(
            original.lastEntry, in: try Folder.holding(original), to: copy.lastEntry, in: try Folder.holding(copy))
        try OpenFile.open(copy, O_RDONLY | O_NOFOLLOW).sync()
        return try identity(of: copy)
    }

    /// What follows once it is in the inbox: its name is brought to the disk before the copied original goes, and the
    /// report that lay beside it is about a job that is over. Its marker follows it, under the name that fits.
    private func tidy(
        after original: FilePath, of record: JobRecord, sentTo path: FilePath, _ before: [FilePath: FileIdentity]
    ) -> IOError? {
        do throws(IOError) {
            let durability = Durability(.full)
            let inbox = path.removingLastComponent()
            for marker in Self.markers(beside: original, of: record) {
                guard let name = Self.name(of: marker, beside: original, for: path) else { continue }
                if try Self.place(marker, as: name, in: inbox) != nil { continue }
                let copy = inbox.appending(".dropmill-\(record.id.text).marker")
                try Folder.remove(copy)
                try Transfer.copyFile(
                    marker.lastEntry, in: try Folder.holding(marker), to: copy.lastEntry, in: try Folder.holding(copy))
                _ = try Self.place(copy, as: name, in: inbox)
                try Folder.removeFile(marker)
            }
            try durability.sync(folders: [inbox])
            let folder = original.removingLastComponent()
            for (path, identity) in before where FileIdentity.of(path) == identity { try Folder.removeFile(path) }
            try durability.sync(folders: [folder])
            return nil
        } catch {
            return error
        }
    }

    /// What lies beside a failed original and is no report: its marker.
    private static func markers(beside original: FilePath, of record: JobRecord) -> [FilePath] {
        record.outputs.filter {
            $0.removingLastComponent() == original.removingLastComponent() && Folder.kind(of: $0) == .regular
                && !$0.bytes.suffix(reportSuffix.utf8.count).elementsEqual(reportSuffix.utf8)
        }
    }

    /// The marker's name for the name that its drop has now: what is the drop's name or stem in it changes with that.
    private static func name(of marker: FilePath, beside original: FilePath, for sent: FilePath) -> FileName? {
        guard let own = marker.lastName, let before = original.lastName, let now = sent.lastName else { return nil }
        for (old, new) in [(before.bytes, now.bytes), (before.stem, now.stem)] {
            guard let range = own.bytes.firstRange(of: old) else { continue }
            return FileName(own.bytes[..<range.lowerBound] + new + own.bytes[range.upperBound...])
        }
        return own
    }

    /// What was written beside a failed original: as it is on record, else where it is found by its name.
    private static func reports(beside original: FilePath, of record: JobRecord) -> [FilePath] {
        let folder = original.removingLastComponent()
        let recorded = record.outputs.filter {
            $0.removingLastComponent() == folder
                && $0.bytes.suffix(reportSuffix.utf8.count).elementsEqual(reportSuffix.utf8)
        }
        guard recorded.isEmpty, let name = original.lastName else { return recorded }
        return [folder.appending(name.appending(reportSuffix, unique: record.id.text))]
    }

    private static func identities(of paths: [FilePath]) -> [FilePath: FileIdentity] {
        var identities: [FilePath: FileIdentity] = [:]
        for path in paths { identities[path] = FileIdentity.of(path) }
        return identities
    }

    /// The device and inode of a regular file, or of a folder.
    private static func identity(of path: FilePath) throws(IOError) -> FileIdentity {
        var status = stat()
        guard path.withPlatformString({ lstat($0, &status) }) == 0 else { throw IOError("examine", path, .last) }
        guard [.regular, .folder].contains(FileKind(mode: status.st_mode)) else {
            throw IOError("send in", path, .invalidArgument)
        }
        return FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    }

    /// Turns a failed call into a sentence with its remedy.
    private static func refusing<Result>(_ body: () throws(IOError) -> Result) throws(Refusal) -> Result {
        do throws(IOError) {
            return try body()
        } catch {
            let remedy =
                switch error.errno {
                case .noSuchFileOrDirectory:
                    error.action == "examine" ? "it was moved or sent in already" : "make the folder again"
                case .permissionDenied, .notPermitted: "do this as the user that Dropmill runs as"
                case .noSpace, .diskQuotaExceeded: "free space there and try again"
                case .invalidArgument: "only a regular file or a folder can be sent in"
                default: "try again once that is mended"
                }
            throw Refusal("\(error); \(remedy)")
        }
    }
}

extension Folder {
    /// Removes a file; one that is not there counts as removed.
    fileprivate static func removeFile(_ path: FilePath) throws(IOError) {
        guard path.withPlatformString({ unlink($0) }) != 0, Errno.last != .noSuchFileOrDirectory else { return }
        throw IOError("remove", path, .last)
    }
}
