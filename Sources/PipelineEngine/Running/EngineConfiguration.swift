package import Files
package import Glibc
package import Journal
package import PipelineKit
package import Readiness
package import SystemPackage

/// How an engine is to run.
package struct EngineConfiguration: Sendable {
    /// The state folder: the lock and the control socket. Made if missing.
    package var state: FilePath
    /// Where its journal is.
    package var journal: any JournalStore
    /// Whether to settle what is in the inboxes now and then finish.
    package var once: Bool

    /// How long the journal keeps jobs that are over.
    package var history: HistoryRule

    /// Where they go that are to be archived; nil: nowhere.
    package var archive: (any HistoryArchive)?

    /// Who tells whether files are whole by their content; nil: nobody can, and pipelines that ask for it wait.
    package var judge: FormatJudge?

    /// The group whose members may pass through the state folder to the control socket; nil: nobody but its user.
    package var members: gid_t?

    /// What time it is, for holds that end.
    package var now: @Sendable () -> Timestamp = { .now() }

    /// After how long without any movement something at work is stalled.
    package var stall = Duration.seconds(600)

    /// How many stages of all pipelines may run at once; nil: as many as there are workers.
    package var jobsAtOnce: Int?

    /// How long all else yields at a start to jobs that an earlier run may have died of.
    package var yielding = Duration.seconds(60)

    /// Told every two seconds how the engine is, on its queue.
    package var pulse: @Sendable (EngineHealth) -> Void = { @Sendable _ in }

    /// Called when other nodes have marked this process dead and take over what it has: it must be replaced.
    package var expelled: @Sendable () -> Void = { @Sendable in }

    package init(
        state: FilePath, journal: any JournalStore, once: Bool = false, history: HistoryRule = HistoryRule(),
        judge: FormatJudge? = nil
    ) {
        self.state = state
        self.journal = journal
        self.once = once
        self.history = history
        self.judge = judge
    }
}
