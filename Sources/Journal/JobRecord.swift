package import Files
package import PipelineKit
package import SystemPackage

/// What the journal knows of one job: one row. A later record of a job replaces the earlier one whole.
package struct JobRecord: Sendable, Equatable {
    /// How far a job is, as it is written down.
    package enum State: String, Sendable, CaseIterable {
        /// Waits for a worker of `stage`.
        case queued
        /// A worker has it, or was about to begin with `stage`. Written before it begins only where a job is under
        /// suspicion (see `recoveries`); else it lags behind a little.
        case running
        /// Waits until `nextAttempt` for another run of `stage`.
        case deferred
        /// Its intents are written: from here on it only rolls forward.
        case settling
        /// Over: every stage succeeded.
        case processed
        /// Over: `failure` says why.
        case failed
        /// Over: its folder or its drop was gone from the work folder, or `forget` gave it up. A power cut can undo a
        /// claim, and then the drop is in the inbox.
        case lost

        /// Whether nothing more happens to the job.
        package var isFinal: Bool { self == .processed || self == .failed || self == .lost }

        /// Those of jobs to which something still happens.
        package static let unfinished = allCases.filter { !$0.isFinal }
    }

    /// The job's id.
    package var id: JobID
    /// The pipeline's name.
    package var pipeline: String
    /// The name of its folder in the work folder, where that is not its own id: folders pass from job to job. Nil once
    /// the job is processed or failed, since its folder is another's then.
    package var slot: JobID?
    /// What was dropped.
    package var drop: Drop
    /// Who dropped it; nil where that is not known.
    package var producer: String?
    /// The drop's device and inode, to recognise a file that is sent back (`retry`).
    package var identity: FileIdentity
    /// When its content was changed last, for the same purpose; only while it is new, and not on record.
    package var modified: FileTime?
    /// When it was claimed.
    package var claimedAt: Timestamp
    /// When it ended.
    package var finishedAt: Timestamp?
    /// How far it is.
    package var state: State
    /// The first stage that is not done, by its place; the number of stages when all are.
    package var stage: Int
    /// Runs of that stage that have failed so far.
    package var failures: Int
    /// How often a start found the job unfinished after the daemon had been killed or had crashed.
    package var recoveries: Int
    /// For a deferred job: when it is to run again.
    package var nextAttempt: Timestamp?
    /// The last failure; for a failed job the reason.
    package var failure: Failure?
    /// The kind of the stage that failed.
    package var failedStage: String?
    /// The input of `stage`; nil for the drop itself as it was claimed.
    package var payload: Payload?
    /// Inputs of stages that are done, by the stages' places, where they are not the drop itself. Nil where they are
    /// not known.
    package var inputs: [Int: Payload]? = [:]
    /// Of a settling job: the moves to make, in order.
    package var intents: [Intent]
    /// Of a finished job: what was published, then sidecars of that or of the original.
    package var outputs: [FilePath]
    /// Of a finished job: where the original is; nil if it was deleted or is itself an output.
    package var original: FilePath?
    /// Of a processed job: what the original looked like there; nil where an older Dropmill wrote this.
    package var originalState: OriginalState?
    /// Digests of the original, in hexadecimal, by algorithm (`sha256`).
    package var digests: [String: String]
    /// What stages found out about the drop, by name: `integrity`, `type`.
    package var facts: [String: String]
    /// The stages that it runs through. With others, it goes on behind those that both have.
    package var definition: Definition
    /// The failed job whose original this is, sent in again.
    package var retryOf: JobID?
    /// The processed job whose original this is a copy of.
    package var replayOf: JobID?
    /// Of a failed job: who has taken it out of those that are somebody's to look at. Only read, never written with it.
    package var dismissed: Dismissal?
    /// Which node has it, or had it at its end, where several share the journal. Only read, never written with it.
    package var node: String?
    /// What happened, in order.
    package var history: [Transition]

    /// A record of a job that has just been claimed.
    package init(claimed job: Job, identity: FileIdentity, definition: Definition) {
        id = job.id
        pipeline = job.pipeline
        slot = job.slot == job.id ? nil : job.slot
        drop = job.drop
        producer = job.producer
        self.identity = identity
        claimedAt = job.claimedAt
        state = .queued
        stage = 0
        failures = 0
        recoveries = 0
        intents = []
        outputs = []
        digests = [:]
        facts = [:]
        self.definition = definition
        history = []
    }
}

extension JobRecord {
    /// The name of its folder while it is not over.
    package var folder: JobID { slot ?? id }

    /// Whether a person sent its drop back to the inbox, which is no failure.
    package var isReleased: Bool { state == .failed && failure?.isRelease ?? false }

    /// How long the job took, or has taken by `now`: by the monotonic clock if it began and ended in one run, since the
    /// wall clock may have been set.
    package func took(at now: Timestamp = .now()) -> Duration {
        // A failed run of a stage has the same word.
        if let last = history.last, last.event == state.rawValue, last.stage == nil, let duration = last.duration {
            return duration
        }
        return max(.zero, (finishedAt ?? now) - claimedAt)
    }

    /// The record of a job that was lost, once its folder is there again: what was moved of it before is not forgotten.
    /// What failed meanwhile may have failed for want of the folder, so that nothing is made of it.
    package var foundAgain: JobRecord {
        var record = self
        record.state = intents.isEmpty ? .queued : .settling
        record.finishedAt = nil
        if intents.isEmpty, failure != nil {
            record.beginAgain(at: 0)
            (record.failure, record.failedStage) = (nil, nil)
        }
        record.history.append(Transition(Self.foundAgainEvent, at: .now()))
        return record
    }

    package static let foundAgainEvent = "found again"

    /// Whether it was lost until now.
    package var isFoundAgain: Bool { history.last?.event == Self.foundAgainEvent }
}
