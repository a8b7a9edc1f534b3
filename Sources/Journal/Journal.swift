package import Files
package import PipelineKit
import SystemPackage

/// Says how far each job is and what happened, over crashes and restarts. The work folders say that a job exists; this
/// says how far it is.
///
/// One process writes; others may read meanwhile. Calls block and may be made from any thread.
package protocol Journal: HistoryJournal {
    /// Adds or replaces these jobs' rows and this pipeline state, all or nothing; when it returns they are durable.
    ///
    /// The drop's name and producer and the time of its claim stay what they were first, and a `retryOf` or `replayOf`
    /// that a job has once it keeps.
    ///
    /// `intending`: jobs that are about to be moved, and soon over: those that have no rows yet get one together, until
    /// each has its own. No job is in both.
    ///
    /// Returns the jobs that are *fenced*: another node has taken them over, and nothing was written of them. All else
    /// was. A journal that only one daemon writes to has none.
    func write(
        _ jobs: [JobRecord], intending: [JobRecord], pipelines: [PipelineRecord]
    ) throws(JournalError) -> Set<JobID>

    /// Begins a run: says how the last one ended, and notes durably that this one has begun and not ended.
    func beginRun(_ run: RunRecord) throws(JournalError) -> RunRecord?

    /// Ends the run cleanly: what is unfinished was put down in order, so the next start counts no recovery.
    func endRun() throws(JournalError)

    /// Puts holds on record and removes others, all or none; when it returns that is on the disk, whatever else is not.
    /// One takes the place of the last one of its pipeline, and is not removed as that.
    func change(_ change: HoldChange) throws(JournalError)

    /// Notes that a failed job's original is about to be sent in again as that file: the job that it becomes is given
    /// `retryOf` when it is first written.
    func noteRetry(of job: JobID, as file: SentFile) throws(JournalError)

    /// The same of a copy of a processed job's original: the job that it becomes is given `replayOf`.
    func noteReplay(of job: JobID, as file: SentFile) throws(JournalError)

    /// Removes such a note: that file does not come.
    func forgetRetry(of job: JobID, as identity: FileIdentity) throws(JournalError)

    /// The files of such notes that have not become jobs yet, with the jobs that they come from.
    func sentIn() throws(JournalError) -> [(job: JobID, identity: FileIdentity)]

    /// What has become of each pipeline's jobs, also of those that are not on record any more.
    func figures() throws(JournalError) -> [String: Figures]

    /// How many failed jobs of each pipeline are open: neither sent in again nor dismissed. Counts no rows.
    func openFailures() throws(JournalError) -> [String: Int]

    /// Notes durably that a person has dismissed failed jobs; those that are not open stay as they are. Returns which
    /// were.
    func setDismissed(_ jobs: [JobID], _ dismissal: Dismissal) throws(JournalError) -> Set<JobID>

    /// Answers a question for content that came before, and notes the asking job as its first where there was none.
    func first(_ content: SeenQuery, at time: Timestamp) throws(JournalError) -> SeenJob?

    /// Whether what is on record may be acted on: things claimed, and moved that intents say. False where others take
    /// this node's jobs over, or soon may.
    var mayAct: Bool { get }

    /// Writes something to the file that others find, to see that it can be written.
    func probe() throws(JournalError)

    /// Lets go of everything.
    func close()
}

extension Journal {
    /// Always, where one daemon has the journal to itself.
    package var mayAct: Bool { true }

    /// The same without any that are about to be moved.
    @discardableResult
    package func write(_ jobs: [JobRecord], pipelines: [PipelineRecord]) throws(JournalError) -> Set<JobID> {
        try write(jobs, intending: [], pipelines: pipelines)
    }
}
