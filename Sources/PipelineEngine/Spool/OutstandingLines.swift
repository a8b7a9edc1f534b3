import Files
import Journal
import PipelineKit
import Synchronization
import SystemPackage

/// The lines that jobs may have written to lists in part, of earlier runs too: what a write that was cut off left of
/// one is completed by whoever comes next. All pipelines of an engine share one, as they may share lists.
final class OutstandingLines: Sendable {
    private struct State {
        var lines: [FilePath: [JobID: Set<[UInt8]>]] = [:]
        /// Which folder a list was written in, where it was in this run: another pipeline may reach it by another path.
        var folders: [FilePath: FileIdentity] = [:]
    }

    private let state = Mutex(State())

    /// Notes what these unfinished jobs may have written, as their records say.
    func note(_ records: [JobRecord]) {
        for record in records where record.state == .settling && record.failure == nil {
            for line in record.listedLines { note([line.text.bytes], of: record.id, in: line.path) }
        }
    }

    /// Notes lines of a job that are about to be written to the list at this path, in this folder.
    func note(_ lines: [[UInt8]], of job: JobID, in list: FilePath, _ folder: FileIdentity? = nil) {
        state.withLock { state in
            state.lines[list, default: [:]][job, default: []].formUnion(lines)
            if let folder { state.folders[list] = folder }
        }
    }

    /// These jobs' lines are on the disk, or are not to be written any more.
    func forget(_ jobs: [JobID]) {
        state.withLock { state in
            for list in Array(state.lines.keys) {
                for job in jobs { state.lines[list]?[job] = nil }
                guard state.lines[list]?.isEmpty ?? false else { continue }
                (state.lines[list], state.folders[list]) = (nil, nil)
            }
        }
    }

    /// Those of the list at this path, in this folder.
    func lines(of list: FilePath, _ folder: FileIdentity) -> [[UInt8]] {
        state.withLock { state in
            state.lines.filter { path, _ in
                path == list || path.lastName == list.lastName && state.folders[path] == folder
            }.flatMap { $0.value.values.joined() }
        }
    }

    /// Whether there are none.
    var isEmpty: Bool { state.withLock(\.lines.isEmpty) }
}
