package import Files
package import FolderWatch
import Glibc
package import PipelineKit
import SystemPackage

extension Sample {
    /// Looks at an entry of a folder; of a folder that is a drop, at itself alone: `TreeLook` examines its contents.
    /// `sight`: also ask it for the open writers of a file, which was one at an earlier look: it is opened for that.
    package static func examine(
        _ name: FileName, in folder: borrowing OpenFile, unit: ReadyRule.Unit = .file,
        asking sight: WriterSight? = nil,
        by attributes: Attributes = .remembered
    ) throws(IOError) -> Sample {
        if let sight, unit == .file { return try asking(sight, name, folder, attributes) }
        var status = stat()
        guard attributes.read(name, in: folder.descriptor, &status) else {
            let error = Errno.last
            if error == .noSuchFileOrDirectory { return .gone }
            return try blocked(IOError("examine", folder.path.appending(name), error), nil)
        }
        switch (FileKind(mode: status.st_mode), unit) {
        case (.regular, .file), (.folder, .folder): return .file(Fingerprint(status), .notAsked)
        case (.folder, .file): return .refused("a folder; only files are taken here")
        case (.regular, .folder): return .refused("a file; only folders are taken here")
        case (.symbolicLink, _): return .refused("a symbolic link; put the file itself here")
        default: return .refused("a device, FIFO or socket")
        }
    }

    private static func asking(
        _ sight: WriterSight, _ name: FileName, _ folder: borrowing OpenFile, _ attributes: Attributes
    ) throws(IOError) -> Sample {
        do throws(IOError) {
            // O_NONBLOCK: opening a FIFO would block for ever otherwise.
            let file = try OpenFile.open(name, in: folder, O_RDONLY | O_NONBLOCK)
            let status = try attributes.of(file)
            guard FileKind(mode: status.st_mode) == .regular else {
                throw IOError("open", file.path, .noSuchAddressOrDevice)
            }
            let fingerprint = Fingerprint(status)
            return .file(fingerprint, sight.writers(of: file.descriptor, fingerprint.identity))
        } catch {
            let now = try examine(name, in: folder, by: attributes)
            guard case .file(let seen, _) = now else { return now }
            switch error.errno {
            // An unreadable file does not wait: the stage that reads it reports the error.
            case .permissionDenied: return .file(seen, sight.seen(seen.identity))
            // A write lease keeps others from opening it.
            case .resourceTemporarilyUnavailable: return .file(seen, .some(LeaseHolders.holder(of: seen.identity)))
            // It was something else just now.
            case .noSuchFileOrDirectory, .tooManySymbolicLinkLevels, .noSuchAddressOrDevice:
                return .blocked(error.errno, seen)
            default: return try blocked(error, seen)
            }
        }
    }

    /// What an error about a drop makes of a look at it. Throws where it is everybody's.
    package static func blocked(_ error: IOError, _ seen: Fingerprint?) throws(IOError) -> Sample {
        guard error.errno.trouble(with: .drop) != .pauses else { throw error }
        return .blocked(error.errno, seen)
    }
}
