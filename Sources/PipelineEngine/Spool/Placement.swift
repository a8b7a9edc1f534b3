package import PipelineKit
package import SystemPackage

/// One thing that is to get its final name at settlement: what, where, under which name, with what beside it.
package struct Placement: Sendable {
    /// Whether it is an output or the original.
    package let role: Intent.Role
    /// The file or folder, in the job's folder; nil where somebody took it from there, so that only the report is left
    /// to be placed.
    package let source: FilePath?
    /// The folder it goes into.
    package var folder: FilePath
    /// The names of folders below `folder` that it goes into, made where they are missing: for an original those that
    /// it lay in in the inbox.
    package var subfolders: [FileName] = []
    /// The name it is to have, if that is free.
    package let name: FileName
    /// Whether it is a folder.
    package let isFolder: Bool
    /// Files that are written beside it, under its final name.
    package let companions: [Companion]
    /// What happens where the name is taken.
    package let onConflict: Pipeline.ConflictPolicy
    /// The drop's marker, which goes along under the name that fits the final one.
    package var marker: Attendant?

    /// A marker in a job's folder.
    package struct Attendant: Sendable {
        /// Where it is.
        let source: FilePath
        /// How markers are named; nil where the pipeline asks for none any more.
        let rule: MarkerRule?

        /// Its name beside its drop, whose name was `original`.
        func name(beside name: FileName, originally original: FileName, number: Int) -> FileName? {
            guard let own = source.lastName else { return nil }
            if name == original { return own }
            guard let rule, rule.name(for: original) == own, let fitting = rule.name(for: name) else {
                return own.numbered(number)
            }
            return fitting
        }
    }

    /// The name to try as number `attempt`, from 1.
    func candidate(_ attempt: Int) -> FileName {
        attempt == 1 ? name : name.numbered(attempt, isFolder: isFolder)
    }

    /// The placement with `folder` the very one that it goes into. Where a file has the name that a subfolder needs,
    /// the subfolder steps aside: `2026.2`.
    func inSubfolders() -> Placement {
        var placement = self
        placement.subfolders = []
        for name in subfolders {
            var number = 1
            while true {
                let candidate = number == 1 ? name : name.numbered(number, isFolder: true)
                let path = placement.folder.appending(candidate)
                number += 1
                if let kind = Folder.kind(of: path), kind != .folder { continue }
                placement.folder = path
                break
            }
        }
        return placement
    }

    /// The paths that it takes up under a name: its own, then those of its companions, then that of its marker.
    func targets(as name: FileName, number: Int, of job: Job) -> [FilePath] {
        let marker = marker?.name(beside: name, originally: job.drop.name, number: number)
        return [folder.appending(name)]
            + companions.map { folder.appending(name.appending($0.suffix, unique: job.id.text)) }
            + (marker.map { [folder.appending($0)] } ?? [])
    }
}

/// Finds names that are free, without looking through a long row of taken ones each time.
package struct NameChooser: Sendable {
    /// Given away in this batch, but not there yet.
    private var reserved: Set<FilePath> = []
    /// The last number given for a name.
    private var lastNumbers: [FilePath: Int] = [:]

    /// A chooser that knows nothing yet.
    package init() {}

    /// The first free name of a placement, which is reserved, with the paths that it takes up. With `fail` a taken name
    /// throws `fileExists`; with `replace` the name itself is given, taken or not.
    mutating func choose(
        _ placement: Placement, of job: Job
    ) throws(IOError) -> (name: FileName, targets: [FilePath]) {
        let wanted = placement.folder.appending(placement.name)
        if placement.onConflict == .replace, mayReplace(wanted, placement) {
            return (placement.name, placement.targets(as: placement.name, number: 1, of: job))
        }
        var attempt = 1
        while true {
            let name = placement.candidate(attempt)
            let targets = placement.targets(as: name, number: attempt, of: job)
            if targets.allSatisfy(isFree) {
                reserved.formUnion(targets)
                if attempt > 1 { lastNumbers[wanted] = attempt }
                return (name, targets)
            }
            if placement.onConflict == .fail {
                throw IOError("publish", targets.first { !isFree($0) } ?? wanted, .fileExists)
            }
            attempt = next(after: attempt, wanted, placement)
        }
    }

    /// A batch is over: what was reserved is there, or given up.
    package mutating func endBatch() {
        reserved.removeAll(keepingCapacity: true)
        if lastNumbers.count > 10_000 { lastNumbers = [:] }
    }

    /// Goes on where the last one stopped, as long as that one is still there: gaps are filled only from the beginning.
    private func next(after attempt: Int, _ wanted: FilePath, _ placement: Placement) -> Int {
        guard attempt == 1, let last = lastNumbers[wanted],
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

    private func isFree(_ path: FilePath) -> Bool { !reserved.contains(path) && Folder.kind(of: path) == nil }
}
