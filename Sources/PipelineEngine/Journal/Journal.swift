package import PipelineKit
package import SystemPackage

/// Says how far each job is and what happened, over crashes and restarts. The work folders say that a job exists; this
/// says how far it is.
///
/// One process writes; others may read meanwhile. Calls block and may be made from any thread.
package protocol Journal: Sendable {
    /// Adds or replaces these jobs' rows and this pipeline state, all or nothing; when it returns they are durable.
    ///
    /// A job's pipeline, the drop's name and the time of its claim stay what they were first, and a `retryOf` that it
    /// has once it keeps.
    func write(_ jobs: [JobRecord], pipelines: [PipelineRecord]) throws(JournalError)

    /// Begins a run: says how the last one ended, and notes durably that this one has begun and not ended.
    func beginRun(_ run: RunRecord) throws(JournalError) -> RunRecord?

    /// Ends the run cleanly: what is unfinished was put down in order, so the next start counts no recovery.
    func endRun() throws(JournalError)

    /// The latest run, whether it has ended or not; nil where there was none.
    func lastRun() throws(JournalError) -> RunRecord?

    /// Every job that is not over, oldest first.
    func unfinished() throws(JournalError) -> [JobRecord]

    /// One job, or nil.
    func job(_ id: JobID) throws(JournalError) -> JobRecord?

    /// Jobs that match, newest first.
    func jobs(_ query: JobQuery) throws(JournalError) -> [JobRecord]

    /// How many jobs each pipeline has in each state, and how many in each stage. A failed job that was sent in again
    /// is not counted: the job that it led to is.
    func counts() throws(JournalError) -> [JobCount]

    /// What is known of each pipeline, by name.
    func pipelines() throws(JournalError) -> [PipelineRecord]

    /// Notes that a failed job's original, known by its identity, is about to be sent in again: the job that it becomes
    /// is given `retryOf` when it is first written.
    func noteRetry(of job: JobID, as identity: FileIdentity) throws(JournalError)

    /// Takes such a note back: that file does not come.
    func forgetRetry(of job: JobID, as identity: FileIdentity) throws(JournalError)

    /// Answers a question for content that came before, and notes the asking job as its first where there was none.
    func first(_ content: SeenQuery, at time: Timestamp) throws(JournalError) -> SeenJob?

    /// Removes jobs that were over before that time; returns how many, and content that was
    /// noted before it. Those that are not over are never removed.
    func prune(finishedBefore time: Timestamp) throws(JournalError) -> Int

    /// Lets go of everything.
    func close()
}

/// Which jobs are wanted.
package struct JobQuery: Sendable, Hashable {
    /// Only in these states; empty: any.
    package var states: [JobRecord.State] = []
    /// Only of this pipeline.
    package var pipeline: String?
    /// Only those whose id begins with this.
    package var idPrefix: String?
    /// Only drops of exactly this name.
    package var name: FileName?
    /// Only claimed at or after this time.
    package var since: Timestamp?
    /// Only those that a job of this id led to by `retry`.
    package var retryOf: JobID?
    /// Only those that are over and left one of these there: the original, an output, or what lies beside one. Every
    /// row is looked at for it. Empty: any.
    package var left: [FilePath] = []
    /// At most so many.
    package var limit: Int?

    /// All jobs.
    package init() {}
}

/// A number of jobs that are alike.
package struct JobCount: Sendable, Hashable {
    /// The pipeline's name.
    package var pipeline: String
    /// Their state.
    package var state: JobRecord.State
    /// Their stage's place; 0 for jobs that are over.
    package var stage: Int
    /// How many.
    package var count: Int

    /// A count.
    package init(pipeline: String, state: JobRecord.State, stage: Int, count: Int) {
        self.pipeline = pipeline
        self.state = state
        self.stage = stage
        self.count = count
    }
}

/// What the journal knows of a pipeline as a whole, for those who look from outside.
package struct PipelineRecord: Sendable, Equatable {
    /// Its name.
    package var name: String
    /// The file that describes it, absolute; nil where an older Dropmill wrote this.
    package var source: FilePath?
    /// Its inbox, absolute: where a failed original is sent in again.
    package var inbox: FilePath
    /// Its folder for failed originals, absolute.
    package var failed: FilePath
    /// Its stages' kinds, in order.
    package var stages: [String]
    /// How many drops wait in the inbox.
    package var waiting: Int
    /// Why it is paused; nil while it works.
    package var paused: StageFailure?
    /// Since when it is paused.
    package var pausedSince: Timestamp?
    /// When this was written.
    package var updatedAt: Timestamp
    /// Where its work folder is, and before that where those were that may still hold jobs.
    package var works: [WorkPlace] = []

    /// A record.
    package init(
        name: String, source: FilePath? = nil, inbox: FilePath, failed: FilePath, stages: [String], waiting: Int,
        paused: StageFailure? = nil, pausedSince: Timestamp? = nil, updatedAt: Timestamp
    ) {
        self.name = name
        self.source = source
        self.inbox = inbox
        self.failed = failed
        self.stages = stages
        self.waiting = waiting
        self.paused = paused
        self.pausedSince = pausedSince
        self.updatedAt = updatedAt
    }
}

/// One run of the daemon.
package struct RunRecord: Sendable, Hashable {
    /// The machine's boot (random/boot_id of proc(5)): after another one, what was not synced may be lost.
    package var boot: String
    /// The process.
    package var process: Int
    /// When it began.
    package var startedAt: Timestamp
    /// When it ended in order; nil where it was killed, crashed, or runs still.
    package var endedAt: Timestamp?

    /// A run that has begun.
    package init(boot: String, process: Int, startedAt: Timestamp, endedAt: Timestamp? = nil) {
        self.boot = boot
        self.process = process
        self.startedAt = startedAt
        self.endedAt = endedAt
    }
}

/// Why the journal cannot be used: a sentence with its remedy.
package struct JournalError: Error, Sendable, Hashable {
    /// What kind of trouble it is.
    package enum Kind: Sendable {
        /// It was written by a newer Dropmill.
        case newer
        /// What it says makes no sense: it is damaged.
        case corrupt
        /// The disk or the file system is in trouble; it may pass.
        case environment
        /// There is none.
        case missing
    }

    /// The kind.
    package let kind: Kind
    /// The sentence.
    package let message: String

    /// An error.
    package init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    /// What to do when a running daemon meets it: a sentence.
    package var remedy: String {
        switch kind {
        case .corrupt:
            "Stop Dropmill and start it again: the damaged journal is set aside then, and every job is kept."
        case .environment, .missing, .newer:
            "Look after the state folder and its file system; work goes on by itself."
        }
    }
}
