package import Files
package import SystemPackage

/// One validated pipeline: what one file says.
package struct Pipeline: Sendable {
    /// Its name; also that of its work folder.
    package var name: String
    /// The file it was read from, for messages.
    package var source: FilePath
    /// The watched folder.
    package var inbox: FilePath
    /// Where originals go after success.
    package var processed: Processed
    /// Where originals go after failure.
    package var failed: FilePath
    /// How `processed` and `failed` go on with placeholders, if they do: below those folders.
    package var processedTemplate: PathTemplate?
    package var failedTemplate: PathTemplate?
    /// The work folder, where one is configured; else it is chosen beside the inbox.
    package var work: FilePath?
    /// The name of a pipeline that is not loaded any more and whose unfinished jobs it takes over.
    package var formerly: String?
    /// Folders and links that are accepted although another user could redirect them; absolute.
    package var trust: [FilePath]
    /// Which names are drops.
    package var match: MatchRule
    /// When a drop is complete.
    package var ready: ReadyRule
    /// Whose a drop is once it is claimed.
    package var ownership = Ownership.take
    /// What outputs are given.
    package var rights = OutputRights()
    /// The names of lists of digests, its own and those of others, where it publishes; and where failed originals go.
    package var lists = ListNames()
    package var listsInFailed = ListNames()
    /// What happens where a name is taken.
    package var onConflict: ConflictPolicy
    /// In which order complete drops are claimed.
    package var order: Order
    /// Which of the nodes that share the inbox list it.
    package var scan = Scan.all
    /// How many jobs may be claimed at once; the rest waits in the inbox.
    package var activeJobs: Int
    /// How many bytes they may have together; nil: any number. A drop that has more is claimed alone.
    package var activeBytes: ByteSize?
    /// How producers share it; nil: what comes first is claimed first.
    package var fair: FairRule?
    /// Which drops come before others; nil: none does.
    package var priority: PriorityRule?
    /// How often its stages have their turn, where those of others have it once, with `jobs_at_once`.
    package var weight = 1
    /// When it works; nil: always.
    package var hours: HoursRule?
    /// How fast drops are claimed; nil: as they come.
    package var limit: LimitRule?
    /// How long originals stay where they were left; nil: nothing is ever removed.
    package var keep: KeepRule?
    /// How transient failures are retried.
    package var retry: RetryPolicy
    /// Whether outputs and renames are on disk before a job counts as done.
    package var durability: Durability
    /// What each file system that is written to must have free before a drop is claimed; 0: that is not looked at.
    package var minFree: ByteSize
    /// What may be sent in through the page; nil: nothing.
    package var upload: UploadRule?
    /// The steps, in order.
    package var stages: [StageEntry]
    /// What is done for a job that failed, before its original goes to `failed`; what happens to it changes nothing.
    package var onFailure: [StageEntry]
    /// What the stages do to a drop. A job that began under a different one goes on behind the stages that both have.
    package var definition: Definition
    /// What its file says, to tell what a reload changes.
    package var declaration = Declaration()

    /// A pipeline whose keys but the folders have their defaults.
    package init(
        name: String, source: FilePath, inbox: FilePath, processed: Processed, failed: FilePath, work: FilePath? = nil,
        trust: [FilePath] = [], match: MatchRule = MatchRule(), ready: ReadyRule = ReadyRule(),
        onConflict: ConflictPolicy = .rename,
        order: Order = .arrival, activeJobs: Int = 1024, activeBytes: ByteSize? = nil,
        retry: RetryPolicy = RetryPolicy(), durability: Durability = .full,
        minFree: ByteSize = .minFree, stages: [StageEntry] = [], onFailure: [StageEntry] = [],
        definition: Definition = ""
    ) {
        self.name = name
        self.source = source
        self.inbox = inbox
        self.processed = processed
        self.failed = failed
        self.work = work
        self.trust = trust
        self.match = match
        self.ready = ready
        self.onConflict = onConflict
        self.order = order
        self.activeJobs = activeJobs
        self.activeBytes = activeBytes
        self.retry = retry
        self.durability = durability
        self.minFree = minFree
        self.stages = stages
        self.onFailure = onFailure
        self.definition = definition
    }

    /// Every stage there is; those for failed jobs come last.
    package var allStages: [StageEntry] { stages + onFailure }

    /// What happens to an original whose job succeeded.
    package enum Processed: Sendable, Hashable {
        /// It is moved into the folder.
        case folder(FilePath)
        case delete
    }

    /// Whose a drop is once it is claimed.
    package enum Ownership: String, Sendable, CaseIterable {
        /// Ours: nobody else can change what the stages have looked at.
        case take
        /// Its sender's, as it came; a change until it is published fails the job.
        case keep
    }

    /// In which order drops are claimed, of those that are complete.
    package enum Order: String, Sendable, CaseIterable {
        /// As they became complete.
        case arrival
        /// By path, as bytes.
        case name
        /// The oldest mtime first.
        case oldest
        /// By bytes, the least first.
        case smallest
        /// By bytes, the most first.
        case largest
    }

    /// Which of the nodes that share the inbox list it.
    package enum Scan: String, Sendable, CaseIterable {
        case all
        /// One at a time, which alone claims.
        case leader
    }

    /// What happens where a name is taken.
    package enum ConflictPolicy: String, Sendable, CaseIterable {
        /// The newcomer steps aside: `report.2.pdf`.
        case rename
        /// The newcomer replaces what is there.
        case replace
        /// The job fails.
        case fail
    }
}

extension ByteSize {
    /// The default of `min_free`.
    package static let minFree = ByteSize(bytes: 256 << 20)
}

extension [Pipeline] {
    /// How long content is to be known that came before.
    package var memory: Duration { flatMap(\.allStages).compactMap(\.stage.memory).max() ?? .zero }
}
