package import Files
public import SystemPackage

extension StageContext {
    /// What the job is about.
    public struct JobFacts: Sendable {
        /// Its id.
        public let id: JobID
        /// The thing that was dropped.
        public let drop: Drop
        /// What placeholders stand for.
        package let values: TemplateValues
        /// A folder with what was dropped with the drop (a marker, a sidecar), if there was anything.
        public let sidecarFolder: FilePath
        /// Why the job failed, for a stage of `on_failure`; nil for any other.
        public let failure: JobFailure?

        /// A job's, which carries this payload.
        package init(of job: Job, carrying payload: Payload? = nil, failure: JobFailure? = nil) {
            id = job.id
            drop = job.drop
            var values = job.templateValues
            if let payload { values.facts = payload.knownFacts.mapValues { Array($0.utf8) } }
            self.values = values
            sidecarFolder = job.sidecarFolder
            self.failure = failure
        }
    }

    /// One run of a stage.
    public struct Work: Sendable {
        /// Whether to stop.
        public let cancellation: Cancellation
        /// How far it is, for the log.
        public let progress: StageProgress
        /// Its notes and warnings.
        public let notes: StageNotes
        /// How long it may take before it is cancelled; nil if the pipeline sets no limit.
        public let timeLimit: Duration?
        /// What the names of the queues that it opens begin with: `dropmill.<pipeline>.<stage>.<n>`.
        let label: String

        package init(
            cancellation: Cancellation = Cancellation(), progress: StageProgress = StageProgress(),
            notes: StageNotes = StageNotes(), timeLimit: Duration? = nil, label: String = "dropmill.stage"
        ) {
            self.cancellation = cancellation
            self.progress = progress
            self.notes = notes
            self.timeLimit = timeLimit
            self.label = label
        }

        /// Whether a copy is to be broken off. It asks again and again, and so it is seen that the stage moves.
        package func isStopped() -> Bool {
            progress.move()
            return cancellation.isCancelled
        }
    }

    /// What a stage needs to know about the disk.
    package struct Disk: Sendable {
        /// The stage's own folder, made by `makeScratch`.
        let scratch: FilePath
        /// The space to keep free on the work folder's file system.
        package let reserve: ByteSize
        /// Whether what the stage makes is brought to the disk before it is published.
        package let durability: Durability
        /// Whether the sender can still write to the drop (`ownership: keep`).
        package let isShared: Bool

        /// `scratch` need not exist.
        package init(
            scratch: FilePath, reserve: ByteSize = ByteSize(bytes: 0), durability: Durability = .fast,
            isShared: Bool = false
        ) {
            self.scratch = scratch
            self.reserve = reserve
            self.durability = durability
            self.isShared = isShared
        }
    }
}
