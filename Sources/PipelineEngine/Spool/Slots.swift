import PipelineKit
import Synchronization

/// The jobs' folders that are free: what one job leaves empty serves the next as it is.
///
/// ext4 looks long for a free inode where many were freed in the last seconds (`recently_deleted` in its ialloc.c),
/// which made a folder made and removed for each of 2,000 jobs cost 1 ms a job; and a rename of an emptied folder to
/// the next job's name still costs 18 µs, more than all that is done in it.
///
/// A slot is named after its first job. It is free only once the journal has the end of its last job on record, since
/// whatever a start finds in a slot belongs to the job that is on record as not over, or else is a new claim. Only
/// slots of this run are used again: nothing of an earlier run refers to them.
final class Slots: Sendable {
    private struct State {
        /// Those that were made by this process.
        var own: Set<JobID> = []
        /// The last that became free is the first to be used: the kernel still knows it.
        var free: [JobID] = []
        var areKept: Bool
    }

    /// The most that are kept. Each is an empty folder.
    private static let most = 4096

    private let state: Mutex<State>

    /// `areKept`: whether jobs may have folders that bear other jobs' names.
    init(areKept: Bool) { state = Mutex(State(areKept: areKept)) }

    /// Changes that; gives up those that are free and not to be kept, to be removed.
    func keep(_ areKept: Bool) -> [JobID] {
        let mustGo = state.withLock { state in
            state.areKept = areKept
            return !areKept
        }
        return mustGo ? takeAll() : []
    }

    /// A free one; nil where there is none.
    func take() -> JobID? { state.withLock { $0.free.popLast() } }

    /// One was made for a job.
    func made(_ slot: JobID) { state.withLock { _ = $0.own.insert(slot) } }

    /// Its job is over and it is empty. False where it cannot be used again: it is to be removed.
    func free(_ slot: JobID) -> Bool {
        state.withLock { state in
            guard state.areKept, state.own.contains(slot), state.free.count < Self.most else {
                state.own.remove(slot)
                return false
            }
            state.free.append(slot)
            return true
        }
    }

    /// One was removed.
    func removed(_ slot: JobID) { state.withLock { _ = $0.own.remove(slot) } }

    /// Gives up all that are free, to be removed.
    func takeAll() -> [JobID] {
        state.withLock { state in
            defer { (state.own, state.free) = ([], []) }
            return state.free
        }
    }
}
