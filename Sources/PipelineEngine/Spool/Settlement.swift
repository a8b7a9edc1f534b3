package import Journal
package import PipelineKit
import SystemPackage

/// A job that is to be settled: what its journal record says, and what is to be told of a failure.
package struct Settlement: Sendable {
    /// The job.
    package let job: Job
    /// What is written down of it; `payload` is what its stages made, `intents` what an earlier attempt decided.
    package var record: JobRecord
    /// How it ends.
    package private(set) var outcome: JobState.Outcome
    /// For a failed job: the report to put beside the original.
    package private(set) var report: FailureReport?
    /// What the drop looked like when it was proved, where it stays its sender's.
    package var seal: Seal?
    /// Since when this process has been at the job; nil for one of an earlier run.
    var begun: MonotonicTime?
    /// Whether the original of a failed job stays in its folder, since it could not be brought to `failed`.
    private(set) var leavesOriginal = false

    package init(
        job: Job, record: JobRecord, outcome: JobState.Outcome, report: FailureReport?, seal: Seal? = nil
    ) {
        self.seal = seal
        self.job = job
        self.record = record
        self.outcome = outcome
        self.report = report
    }

    /// What came of it.
    package enum Result: Sendable {
        /// Everything is in its place, and the journal says so.
        case settled
        /// It did not work; what was decided stays decided.
        case failed(Failure)
        /// The outputs could not be brought to the disk, so they must be created again.
        case outputsLost(Failure)
    }

    /// What lies in the job's folder.
    func look() throws(Failure) -> SettlementPlan.Found {
        do throws(IOError) {
            var found = SettlementPlan.Found(marker: try Spool.marker(in: job.folder), hasOriginal: false)
            if case .failed = outcome, !leavesOriginal {
                // An earlier attempt may have moved it already; then the source is of no interest any more.
                found.hasOriginal =
                    record.intents.isEmpty
                    ? try FileIdentity.find(job.original) != nil : record.intents.contains { $0.role == .original }
            }
            return found
        } catch {
            throw .settling(error)
        }
    }

    /// The original of a failed job could not be brought to `failed`: it stays in its folder, which will be set aside,
    /// and the failure's text says where.
    mutating func leaveOriginal(at path: FilePath, because error: IOError) {
        guard case .failed(var failure) = outcome else { return }
        leavesOriginal = true
        let fact = "The original is kept in '\(path.text)': it could not be moved to `failed` (\(error.errno))."
        failure.remedy = "\(fact) \(failure.remedy)"
        outcome = .failed(failure)
        report?.remedy = failure.remedy
    }
}
