import PipelineKit
import Synchronization
package import SystemPackage

/// Finds names that are free, without looking through a long row of taken ones each time. Batches that are settled at
/// the same time share one, so that none gives a name away that another is about to take.
package final class NameChooser: Sendable {
    private struct State {
        /// Given away, but perhaps not there yet.
        var reserved: Set<FilePath> = []
        /// The last number given for a name.
        var lastNumbers: [FilePath: Int] = [:]
    }

    private let state = Mutex(State())

    /// A chooser that knows nothing yet.
    package init() {}

    /// The first free name of a placement, with the paths that it takes up, which are the caller's until `release`.
    /// With `fail` a taken name throws `fileExists`; with `replace` the name itself is given, taken or not, and not
    /// reserved.
    func choose(_ placement: Placement, of job: Job) throws(IOError) -> (name: FileName, targets: [FilePath]) {
        let wanted = placement.folder.appending(placement.name)
        if placement.onConflict == .replace, mayReplace(wanted, placement) {
            return (placement.name, placement.targets(as: placement.name, number: 1, of: job))
        }
        var attempt = 1
        while true {
            let name = placement.candidate(attempt)
            let targets = placement.targets(as: name, number: attempt, of: job)
            guard let taken = reserve(targets) else {
                if attempt > 1 { note(attempt, for: wanted) }
                return (name, targets)
            }
            if placement.onConflict == .fail { throw IOError("publish", taken, .fileExists) }
            attempt = next(after: attempt, wanted, placement)
        }
    }

    /// What was reserved is there by now, or given up.
    package func release(_ targets: [FilePath]) {
        state.withLock { state in
            for target in targets { state.reserved.remove(target) }
            if state.lastNumbers.count > 10_000 { state.lastNumbers = [:] }
        }
    }

    /// Reserves all of them or none; the one that is taken, or nil. What is on the disk is looked at after they are
    /// reserved, so that nobody waits for that, and a name that is given up in between is seen in its place.
    private func reserve(_ targets: [FilePath]) -> FilePath? {
        let reserved = state.withLock { state -> FilePath? in
            if let taken = targets.first(where: state.reserved.contains) { return taken }
            state.reserved.formUnion(targets)
            return nil
        }
        if let reserved { return reserved }
        guard let taken = targets.first(where: { Folder.kind(of: $0) != nil }) else { return nil }
        release(targets)
        return taken
    }

    private func note(_ number: Int, for wanted: FilePath) {
        state.withLock { $0.lastNumbers[wanted] = number }
    }

    /// Goes on where the last one stopped, as long as that one is still there: gaps are filled only from the beginning.
    private func next(after attempt: Int, _ wanted: FilePath, _ placement: Placement) -> Int {
        guard attempt == 1, let last = state.withLock({ $0.lastNumbers[wanted] }),
            !isFree(placement.folder.appending(placement.candidate(last)))
        else { return attempt + 1 }
        return last + 1
    }

    /// A file replaces a file and a folder a folder; a whole folder never gives way to a file that has its name.
    private func mayReplace(_ path: FilePath, _ placement: Placement) -> Bool {
        switch Folder.kind(of: path) {
        case nil: true
        case .folder: placement.isFolder
        default: !placement.isFolder
        }
    }

    private func isFree(_ path: FilePath) -> Bool {
        !state.withLock { $0.reserved.contains(path) } && Folder.kind(of: path) == nil
    }
}
