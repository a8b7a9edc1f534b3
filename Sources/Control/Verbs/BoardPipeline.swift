import Files
package import FoundationEssentials
package import Journal

/// How one pipeline stands.
package struct BoardPipeline: Codable, Equatable, Sendable {
    package var name: String
    /// Absolute paths in bytes: of its file and of its inbox.
    package var file: Data
    package var inbox: Data
    /// What a person has said of it.
    package var hold: Hold?
    /// Why it pauses by trouble, and since when in nanoseconds since 1970.
    package var paused: WaitingVerb.Pause?
    package var pausedSince: Int64?
    package var stalled: WaitingVerb.Stalled?
    /// When its hours begin, where it is outside them: nanoseconds since 1970; 0: never.
    package var opens: Int64?
    /// What waits in its inbox; nil where that does not answer.
    package var waiting: Waiting?
    package var jobs: Jobs
    /// For how many seconds the oldest drop or job is known that is not over.
    package var oldest: Double?
    /// When the last job was over: nanoseconds since 1970.
    package var lastSettled: Int64?
    package var today: Today
    package var minutes: Minutes
    package var free: [Free] = []
    package var stages: [Stage] = []
    /// Stages that run for longer than a moment.
    package var runs: [Run] = []
    /// What may be sent in through the page; nil: nothing.
    package var upload: Upload?

    package init(name: String, file: Data, inbox: Data, jobs: Jobs, today: Today, minutes: Minutes) {
        self.name = name
        self.file = file
        self.inbox = inbox
        self.jobs = jobs
        self.today = today
        self.minutes = minutes
    }

    package struct Hold: Codable, Equatable, Sendable {
        package var kind: HoldRecord.Kind
        package var by: String
        package var uid: UInt32
        /// Nanoseconds since 1970; `until` nil: until it is lifted.
        package var since: Int64
        package var until: Int64?
        package var reason: String
        /// The node that it is held on alone.
        package var node: String?

        package init(_ hold: HoldRecord) {
            (kind, by, uid, reason, node) = (hold.kind, hold.by, hold.user, hold.reason, hold.node)
            (since, until) = (hold.since.nanoseconds, hold.until?.nanoseconds)
        }

        package func record(of pipeline: String) -> HoldRecord {
            HoldRecord(
                pipeline: pipeline, kind: kind, by: by, user: uid, since: Timestamp(nanoseconds: since),
                until: until.map { Timestamp(nanoseconds: $0) }, reason: reason, on: node)
        }
    }

    package struct Waiting: Codable, Equatable, Sendable {
        package var drops: Int
        /// Of these, complete ones, which wait for room or for the pipeline: how many, and their bytes.
        package var complete: Int
        package var completeBytes: Int64
        package var oldest: Double?
        package var leftAlone: Int

        package init(drops: Int, complete: Int, completeBytes: Int64, oldest: Double?, leftAlone: Int) {
            self.drops = drops
            self.complete = complete
            self.completeBytes = completeBytes
            self.oldest = oldest
            self.leftAlone = leftAlone
        }
    }

    /// Jobs by state.
    package struct Jobs: Codable, Equatable, Sendable {
        package var queued = 0
        package var running = 0
        package var deferred = 0
        package var settling = 0
        /// Failed ones that were neither sent in again nor dismissed; nil where the journal cannot be read.
        package var failed: Int?
        /// When the first of those that are deferred is tried again: nanoseconds since 1970.
        package var nextAttempt: Int64?

        package init() {}
    }

    /// What was over since the host's midnight.
    package struct Today: Codable, Equatable, Sendable {
        package var processed: Int
        package var failed: Int
        package var bytes: Int64

        package init(processed: Int = 0, failed: Int = 0, bytes: Int64 = 0) {
            (self.processed, self.failed, self.bytes) = (processed, failed, bytes)
        }
    }

    /// What was over in each of the last 60 minutes, the oldest first; the last one is under way.
    package struct Minutes: Codable, Equatable, Sendable {
        /// When the last one began: nanoseconds since 1970.
        package var last: Int64
        package var jobs: [Int]
        package var failed: [Int]
        package var bytes: [Int64]

        package init(last: Int64, jobs: [Int], failed: [Int], bytes: [Int64]) {
            (self.last, self.jobs, self.failed, self.bytes) = (last, jobs, failed, bytes)
        }
    }

    package struct Free: Codable, Equatable, Sendable {
        package var folder: Data
        package var free: Int64
        package var total: Int64
        /// What is kept free: the pipeline pauses below.
        package var kept: Int64

        package init(folder: Data, free: Int64, total: Int64, kept: Int64) {
            (self.folder, self.free, self.total, self.kept) = (folder, free, total, kept)
        }
    }

    package struct Stage: Codable, Equatable, Sendable {
        package var kind: String
        /// What tells it from others of its kind, as the program of `run`.
        package var label: String?
        package var workers: Int
        package var queued: Int
        package var running: Int
        package var deferred: Int
        /// Seconds that half of its runs took less than, lately; nil where there were none.
        package var usual: Double?
        package var failedLastHour: Int

        package init(
            kind: String, label: String?, workers: Int, queued: Int, running: Int, deferred: Int, usual: Double?,
            failedLastHour: Int
        ) {
            self.kind = kind
            self.label = label
            self.workers = workers
            self.queued = queued
            self.running = running
            self.deferred = deferred
            self.usual = usual
            self.failedLastHour = failedLastHour
        }
    }

    /// How far a job's stage is.
    package struct Run: Codable, Equatable, Sendable {
        package var job: String
        /// For how many seconds it runs.
        package var time: Double
        package var bytes: Int64
        package var entries: Int64
        /// Bytes there are in all; nil where that is not known.
        package var total: Int64?

        package init(job: String, time: Double, bytes: Int64, entries: Int64, total: Int64?) {
            (self.job, self.time, self.bytes, self.entries, self.total) = (job, time, bytes, entries, total)
        }
    }

    package struct Upload: Codable, Equatable, Sendable {
        /// The most bytes of one.
        package var most: Int64
        /// The patterns of names that the pipeline takes; none: all.
        package var match: [String]
        /// Whether a folder becomes one drop, its files a drop each, or none.
        package var folders: Folders
        /// How many levels of folders files may be sent into, the inbox among them; nil: any.
        package var depth: Int?

        package enum Folders: String, Codable, Sendable {
            case asOne, asFiles, no
        }
    }
}
