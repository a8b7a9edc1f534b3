public import PipelineConfig
public import PipelineEngine
public import PipelineKit
import Synchronization
public import SystemPackage

/// Pipelines at work in this process, as `dropmill run` has them: what is dropped into their inboxes is claimed once it
/// is complete, goes through their stages and ends in `processed` or `failed`.
///
/// Any number of mills may run in one process, each with a state folder and pipelines of its own. A mill installs no
/// signal handler and changes nothing of the process; what it reports goes to `log` and `events`, and nowhere else.
public final class Mill: Sendable {
    private let control: MillControl
    private let history: MillHistory

    /// A mill of pipeline files, or of folders of `*.yaml` files. Nothing is read or touched before `start`.
    ///
    /// - Parameters:
    ///   - pipelines: The files and folders.
    ///   - registry: The kinds of stages that they may name.
    ///   - state: The folder of the journal, made where it is missing; one mill's alone, on a local disk.
    ///   - keepHistory: How long the journal keeps finished jobs.
    ///   - log: Called for every event, in turn, on queues of the mill; must return soon, and not wait for the mill.
    public convenience init(
        pipelines: [FilePath], registry: StageRegistry, state: FilePath,
        keepHistory: Duration = .seconds(90 * 86_400), log: (@Sendable (MillEvent) -> Void)? = nil
    ) {
        self.init(registry, state, keepHistory, log) { (loader) throws(ConfigProblems) in try loader.load(pipelines) }
    }

    /// The same of pipelines that are no files.
    public convenience init(
        pipelines: [PipelineDescription], registry: StageRegistry, state: FilePath,
        keepHistory: Duration = .seconds(90 * 86_400), log: (@Sendable (MillEvent) -> Void)? = nil
    ) {
        self.init(registry, state, keepHistory, log) { (loader) throws(ConfigProblems) in try loader.load(pipelines) }
    }

    private init(
        _ registry: StageRegistry, _ state: FilePath, _ keepHistory: Duration, _ log: (@Sendable (MillEvent) -> Void)?,
        load: @escaping @Sendable (PipelineLoader) throws(ConfigProblems) -> [Pipeline]
    ) {
        let history = MillHistory()
        self.history = history
        let turn = Mutex(())
        control = MillControl(
            .init(load: load, registry: registry, state: state, keepHistory: keepHistory) { @Sendable event in
                turn.withLock { _ in
                    log?(event)
                    history.add(event)
                }
            })
    }

    /// A mill that nobody holds any more stops, without waiting for stages that run.
    deinit {
        control.enqueue { $0.stopEngine(grace: .zero) }
        history.close()
    }

    /// Reads the pipelines, takes the locks, brings the journal together with the work folders, and begins to watch.
    /// Does nothing where the mill runs already; one that was stopped may start again.
    public func start() async throws(MillError) { try await control.start() }

    /// Claims nothing more, lets running stages finish for so long, and returns when the mill has stopped: its locks
    /// are given back and the journal is closed; its threads and helpers end with it. What is unfinished resumes at the
    /// next start. Does nothing where it does not run.
    public func stop(grace: Duration = .seconds(30)) async { await control.stop(grace: grace) }

    /// Settles what is in the inboxes now, and says what became of it. Cancelling the task stops it.
    public func runOnce() async throws(MillError) -> RunSummary { try await control.runOnce() }

    /// What happens from now on, for any number of iterations. Each ends with the run (`stopped` is its last event), or
    /// when its task is cancelled, which does nothing to the mill. The newest 1,024 events are kept: who is slower than
    /// that gets one event of the kind `missed` in the place of those that are gone.
    public var events: some AsyncSequence<MillEvent, Never> & Sendable {
        MillEvents(history: history, start: history.end)
    }

    /// How each pipeline stands: what waits, runs, is done and failed since the start. Nothing while the mill does not
    /// run.
    public func status() async -> [PipelineStanding] { await control.standing() }

    /// Sends a failed job's original back into its inbox, where it becomes a new job, whether the mill runs or not.
    /// Returns where it lies there.
    @discardableResult
    public func retry(_ job: JobID) async throws(MillError) -> FilePath { try await control.retry(job) }
}
