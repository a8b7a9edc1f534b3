import Files
package import Journal
import SystemPackage

/// What one step of a removal did, or would do.
package struct PruneStep: Sendable {
    /// Those that were removed, each with its rule; of a dry run, that would be.
    package var removed: [KeptFile] = []
    /// How many were looked at.
    package var looked = 0
    /// How many are not as they were left, and stay; the first step counts all that are known.
    package var changed = 0
    /// How many have other names, and stay.
    package var linked = 0
    /// How many others have removed.
    package var gone = 0
    /// What could not be done, with the remedy: sentences.
    package var troubles: [String] = []
    /// Where to go on; nil: that was all.
    package var next: PruneCursor?

    init(next: PruneCursor?) { self.next = next }

    mutating func fail(_ trouble: String) {
        troubles.append(trouble)
        next = nil
    }

    /// So many are told of one step, which is enough to see what is wrong.
    private static let mostTroubles = 3

    /// Notes what could not be done with one; throws where it is the folder that is in trouble.
    mutating func note(_ error: IOError) throws(PruneProblem) {
        guard !error.isOfFolder else { throw .folder(error) }
        if troubles.count < Self.mostTroubles { troubles.append("\(error); it stays until that works") }
    }

    /// Notes one that is not to be removed, and returns what is to be put on record of it; nil: nothing. What stays on
    /// record is left out of what counts.
    mutating func note(_ sight: OriginalsFolder.Sight, of file: KeptFile, isDry: Bool) -> KeptEnd? {
        switch sight {
        case .asLeft: return nil
        case .linked: linked += 1
        case .changed: changed += 1
        case .gone: gone += 1
        }
        if isDry || sight == .linked { next?.leaveOut(file) }
        return sight == .linked ? nil : KeptEnd(file.job, sight == .gone ? .gone : .changed)
    }
}

extension IOError {
    /// Whether nothing else would work there either.
    var isOfFolder: Bool {
        errno.isOfNetwork
            || [
                .readOnlyFileSystem, .ioError, .noSpace, .diskQuotaExceeded, .tooManyOpenFiles,
                .tooManyOpenFilesInSystem,
            ]
            .contains(errno)
    }
}
