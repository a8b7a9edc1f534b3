import Files
import PipelineKit
import Synchronization
package import SystemPackage

/// Finds names that are free, without looking through a long row of taken ones each time. Batches that are settled at
/// the same time share one, so that neither gives away a name that the other is about to use.
package final class NameChooser: Sendable {
    private struct State {
        /// Chosen, but perhaps not created yet.
        var reserved: Set<FilePath> = []
        /// The last number given for a name.
        var lastNumbers: [FilePath: Int] = [:]
    }

    private let state = Mutex(State())

    package init() {}

    /// The first free name of a placement, with the paths that it takes up, which are the caller's until `release`.
    /// With `fail` a taken name throws `fileExists`; with `replace` the name itself is given, taken or not, and not
    /// reserved.
    ///
    /// `folder`: the placement's folder; nil where there is none yet, and so no name taken. `looking`: whether names
    /// that are on the disk count as taken.
    func choose(
        _ placement: Placement, in folder: HeldFolder?, of job: Job, looking: Bool = true
    ) throws(IOError) -> Placement.Name {
        if placement.onConflict == .replace, mayReplace(placement, in: folder) {
            let name = placement.name(1, of: job)
            guard let list = name.targets.first(where: placement.isList) else { return name }
            if !placement.isFailure { throw IOError("publish", list, .fileExists) }
        }
        let wanted = placement.folder.appending(placement.name)
        let chosen = try placement.firstName(
            of: job, after: { lastNumber(of: wanted, placement, in: folder) },
            takenPath: { name in
                name.targets.first(where: placement.isList) ?? reserve(name.targets, in: looking ? folder : nil)
            })
        if chosen.number > 1 { note(chosen.number, for: wanted) }
        return chosen
    }

    /// Reserves names that were given away before, but for those that are reserved; returns which.
    func reserveAgain(_ targets: [FilePath]) -> [FilePath] {
        state.withLock { state in targets.filter { state.reserved.insert($0).inserted } }
    }

    /// The reserved names have been created or given up.
    package func release(_ targets: [FilePath]) {
        state.withLock { state in
            for target in targets { state.reserved.remove(target) }
            if state.lastNumbers.count > 10_000 { state.lastNumbers = [:] }
        }
    }

    /// Reserves all of them or none; the one that is taken, or nil. What is on the disk is looked at after they are
    /// reserved, so that nobody waits for that, and a name that is given up in between is seen in its place.
    private func reserve(_ targets: [FilePath], in folder: HeldFolder?) -> FilePath? {
        let reserved = state.withLock { state -> FilePath? in
            if let taken = targets.first(where: state.reserved.contains) { return taken }
            state.reserved.formUnion(targets)
            return nil
        }
        if let reserved { return reserved }
        guard let taken = targets.first(where: { Self.kind(of: $0, in: folder) != nil }) else { return nil }
        release(targets)
        return taken
    }

    private func note(_ number: Int, for wanted: FilePath) {
        state.withLock { $0.lastNumbers[wanted] = number }
    }

    /// Where the last one stopped, as long as that one is still there: gaps are filled only from the beginning.
    private func lastNumber(of wanted: FilePath, _ placement: Placement, in folder: HeldFolder?) -> Int? {
        guard let last = state.withLock({ $0.lastNumbers[wanted] }),
            !isFree(placement.folder.appending(placement.candidate(last)), in: folder)
        else { return nil }
        return last
    }

    /// A file replaces a file and a folder a folder; a whole folder never gives way to a file that has its name.
    private func mayReplace(_ placement: Placement, in folder: HeldFolder?) -> Bool {
        switch Self.kind(of: placement.folder.appending(placement.name), in: folder) {
        case nil: true
        case .folder: placement.isFolder
        default: !placement.isFolder
        }
    }

    private func isFree(_ path: FilePath, in folder: HeldFolder?) -> Bool {
        !state.withLock { $0.reserved.contains(path) } && Self.kind(of: path, in: folder) == nil
    }

    /// What has the last name of a path in the folder that it leads to.
    private static func kind(of path: FilePath, in folder: HeldFolder?) -> FileKind? {
        folder.flatMap { Spot(path.lastEntry, in: $0).kind }
    }
}
