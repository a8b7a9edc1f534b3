import Files
package import Journal
package import PipelineKit
import SystemPackage

/// A job to settle: its journal record, and the report of a failure.
package struct Settlement: Sendable {
    @CopyOnWrite package private(set) var job: Job
    /// Its record; `payload` is the stages' result, `intents` are an earlier attempt's decisions.
    @CopyOnWrite package var record: JobRecord
    package private(set) var outcome: JobState.Outcome
    /// For a failed job: the report to put beside the original.
    package private(set) var report: FailureReport?
    /// The drop's state at its proof, if it still belongs to its sender.
    package var seal: Seal?
    /// When this process began with the job; nil for a job of an earlier run.
    var begun: MonotonicTime?
    /// What the drop is, where that was seen after its claim and nothing else was put into its folder since.
    var known: FileIdentity.Found?
    /// Whether the original of a failed job stays in its folder, because it could not be moved from there.
    private(set) var leavesOriginal = false

    package init(
        job: Job, record: JobRecord, outcome: JobState.Outcome, report: FailureReport?, seal: Seal? = nil
    ) {
        self.init(
            job: CopyOnWrite(wrappedValue: job), record: CopyOnWrite(wrappedValue: record), outcome: outcome,
            report: report, seal: seal)
    }

    init(
        job: CopyOnWrite<Job>, record: CopyOnWrite<JobRecord>, outcome: JobState.Outcome, report: FailureReport?,
        seal: Seal?
    ) {
        self.seal = seal
        _job = job
        _record = record
        self.outcome = outcome
        self.report = report
    }

    /// Whether its drop goes back to the inbox.
    var isRelease: Bool { if case .failed(let failure) = outcome { failure.isRelease } else { false } }

    package enum Result: Sendable {
        /// Everything is in place and recorded in the journal.
        case settled
        /// It failed; the recorded decisions stand.
        case failed(Failure)
        /// Another node has taken it over; nothing of it was moved since that is known.
        case fenced
        /// The outputs could not be synced and must be created again.
        case outputsLost(Failure)

        var isFailure: Bool {
            switch self {
            case .settled, .fenced: false
            case .failed, .outputsLost: true
            }
        }
    }

    /// What is in the job's folder.
    func look() throws(Failure) -> SettlementPlan.Found {
        if known != nil { return SettlementPlan.Found(marker: nil, hasOriginal: false) }
        do throws(IOError) {
            var found = SettlementPlan.Found(marker: try Spool.marker(in: job.folder), hasOriginal: false)
            if case .failed = outcome, !leavesOriginal {
                // An earlier attempt may have moved it already; then the source does not matter.
                found.hasOriginal =
                    record.intents.isEmpty
                    ? try FileIdentity.find(job.original) != nil : record.intents.contains { $0.role == .original }
            }
            return found
        } catch {
            throw .settling(error)
        }
    }

    /// The original of a failed job, or a released drop, could not be moved to where it was to go: it stays in its
    /// folder, which will be set aside, and the failure's text says where.
    mutating func leaveOriginal(at path: FilePath, because error: IOError) {
        guard case .failed(var failure) = outcome else { return }
        leavesOriginal = true
        if isRelease {
            failure.summary =
                "The job was released, but its drop could not be moved back to the inbox (\(error.errno))."
            failure.remedySentence = "The drop is kept in '\(path.text)': move it to where it is wanted."
        } else {
            let fact: Sentence =
                "The original is kept in '\(path.text)': it could not be moved to `failed` (\(error.errno))."
            failure.remedySentence = "\(fact) \(failure.remedySentence)"
        }
        outcome = .failed(failure)
        report?.remedy = failure.remedy
    }
}
