import Files
import PipelineKit
import SystemPackage

/// Under which name. Pure: what is taken is asked for.
extension Placement {
    /// A name, with the paths that it takes up: its own, then those of its sidecars, then that of its marker.
    struct Name: Equatable {
        let name: FileName
        /// 1 for its own name, then as in `a.2.txt`.
        let number: Int
        let targets: [FilePath]
    }

    /// The name to try as number `attempt`, from 1.
    func candidate(_ attempt: Int) -> FileName {
        attempt == 1 ? name : name.numbered(attempt, isFolder: isFolder)
    }

    /// That name with its paths.
    func name(_ number: Int, of job: Job) -> Name {
        let name = candidate(number)
        let marker = marker?.name(beside: name, originally: job.drop.name, number: number)
        let beside =
            sidecars.map { name.appending($0.suffix, unique: job.id.text) } + (marker.map { [$0] } ?? [])
        return Name(name: name, number: number, targets: ([name] + beside).map { folder.appending($0) })
    }

    /// The first name of which no path is taken. `takenPath`: which of them is, if any; `after`: the last number that
    /// was given, where those before it need not be tried. With `on_conflict: fail` a taken name throws `fileExists`.
    func firstName(
        of job: Job, after last: () -> Int?, takenPath: (Name) -> FilePath?
    ) throws(IOError) -> Name {
        var number = 1
        while true {
            let name = name(number, of: job)
            guard let taken = takenPath(name) else { return name }
            if onConflict == .fail { throw IOError("publish", taken, .fileExists) }
            number = (number == 1 ? last() ?? 1 : number) + 1
        }
    }
}
