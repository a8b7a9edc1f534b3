import PipelineKit
import Synchronization

/// Which job a batch is at, and how much it has done: written by the settler, read by whoever looks whether it moves.
package final class SettlementProgress: Sendable {
    private let state = Mutex<(job: Job?, moves: Int64)>((nil, 0))

    package init() {}

    /// The batch goes on with this job.
    func begin(_ job: Job) {
        state.withLock { state in
            state.job = job
            state.moves &+= 1
        }
    }

    /// Something was done.
    func move() { state.withLock { $0.moves &+= 1 } }

    /// The job, and a number that changes with everything that is done.
    var now: (job: Job?, moves: Int64) { state.withLock { $0 } }
}
