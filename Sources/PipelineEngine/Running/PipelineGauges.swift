package import Files
package import Journal
package import PipelineKit
package import SystemPackage

/// How one pipeline stands, in numbers, as the engine's queue knows it: without a look at any disk.
package struct PipelineGauges: Sendable {
    /// A stage, and the jobs that are at it.
    package struct Stage: Sendable, Equatable {
        package let place: Lately.Place
        /// What tells it from others of its kind, where it says that.
        package var label: String?
        package let workers: Int
        package internal(set) var queued = 0, running = 0, deferred = 0

        package init(_ place: Lately.Place, label: String? = nil, workers: Int = 1) {
            (self.place, self.label, self.workers) = (place, label, workers)
        }
    }

    /// A stage that runs for longer than a moment, and how far it is.
    package struct Run: Sendable, Equatable {
        package let job: JobID
        package let time: Duration
        package let bytes: Int64
        package let entries: Int64
        /// Bytes there are in all; nil where that is not known.
        package let total: Int64?
    }

    /// Trouble, and since when it is there.
    package struct Trouble: Sendable, Equatable {
        package let reason: Failure
        package var since: Timestamp?

        package init(_ reason: Failure, since: Timestamp? = nil) { (self.reason, self.since) = (reason, since) }
    }

    /// The pipeline's name.
    package let name: String
    /// Its file and its inbox; nil where its folders do not answer.
    package var source: FilePath?
    package var inbox: FilePath?
    /// What its file says; nil where its folders do not answer.
    package internal(set) var pipeline: Pipeline?
    /// The kinds of its stages, those for failed jobs among them.
    package let stages: [String]
    /// Its stages, but for those.
    package internal(set) var row: [Stage] = []
    /// What runs at these and at those for failed jobs, the longest first.
    package internal(set) var runs: [Run] = []
    /// Folders on the file systems that it writes to, and how much is to be free there.
    package let folders: [FilePath]
    package var minFree = ByteSize(bytes: 0)
    /// Jobs that are not over.
    package internal(set) var jobs: [JobRecord.State: Int] = [:]
    /// When the one was claimed that was claimed first.
    package internal(set) var firstClaim: Timestamp?
    /// When the first deferred one is tried again.
    package internal(set) var nextAttempt: Timestamp?
    /// Drops that wait in its inbox, as they were counted last.
    package let waiting: Int
    /// Whether trouble pauses it.
    package let isTroubled: Bool
    /// Which, where that is known; what a person holds it by; what in it has not moved for long.
    package var trouble: Trouble?
    package var hold: HoldRecord?
    package var stall: Stall?
    /// That it is outside its hours.
    package internal(set) var outside: OutsideHours?
    package var lately = Lately()

    package init(
        name: String, stages: [String], folders: [FilePath], waiting: Int, isTroubled: Bool, hold: HoldRecord? = nil,
        stall: Stall? = nil
    ) {
        self.name = name
        self.stages = stages
        self.folders = folders
        self.waiting = waiting
        self.isTroubled = isTroubled
        self.hold = hold
        self.stall = stall
    }
}

extension Engine {
    /// How the pipelines stand, those that have not begun last. Waits for the engine's queue, and for no disk.
    package nonisolated var gauges: [PipelineGauges] {
        sync { engine in
            let stalls = engine.stalls
            let loaded = engine.runners.map { runner in
                let name = runner.pipeline.name
                // What is under way under another name comes to it.
                let all = [runner] + (engine.retired + engine.tails).filter { $0.last.pipeline.name == name }
                var gauges = PipelineGauges(runner, all, hold: engine.holds[name], stall: stalls[name])
                gauges.lately = engine.lately[name] ?? Lately()
                return gauges
            }
            // Their folders do not answer.
            let awaited = engine.awaited.keys.sorted().map { name in
                PipelineGauges(
                    name: name, stages: [], folders: [], waiting: 0, isTroubled: true, hold: engine.holds[name])
            }
            return loaded + awaited
        }
    }

    /// What has become of each pipeline's jobs since the journal began.
    package nonisolated func figures() throws(JournalError) -> [String: Figures] {
        guard let opened = sync({ $0.opened }) else { return [:] }
        return try opened.journal.figures()
    }

    /// How many failed jobs of each pipeline were neither sent in again nor dismissed.
    package nonisolated func openFailures() throws(JournalError) -> [String: Int] {
        guard let opened = sync({ $0.opened }) else { return [:] }
        return try opened.journal.openFailures()
    }

    /// Why the journal cannot be written, as far as that was tried; nil where it can.
    package nonisolated var journalTrouble: JournalError? { sync { $0.opened }?.writer.trouble }
}

extension PipelineGauges {
    /// `all`: that runner first, then those whose jobs come to it.
    fileprivate init(_ runner: PipelineRunner, _ all: [PipelineRunner], hold: HoldRecord?, stall: Stall?) {
        let pipeline = runner.pipeline
        let outputs = pipeline.allStages.flatMap { $0.targets.values.map(\.fixedFolder) }
        let paused = all.first { $0.machine.pause.isPaused }
        self.init(
            name: pipeline.name, stages: pipeline.allStages.map(\.kind),
            folders: runner.intake.spool.folders + outputs, waiting: runner.waiting, isTroubled: paused != nil,
            hold: hold, stall: stall)
        self.pipeline = pipeline
        outside = runner.outside
        (source, inbox, minFree) = (pipeline.source.absolute, pipeline.inbox, pipeline.minFree)
        trouble = paused.flatMap { runner in
            runner.machine.pause.reason.map { Trouble($0, since: runner.pausedAt?.time) }
        }
        row = zip(pipeline.stages, runner.places).map { stage, place in
            Stage(place, label: stage.stage.label, workers: stage.workers)
        }
        for runner in all { add(runner) }
        let now = MonotonicTime.now()
        runs = all.flatMap(\.workers).flatMap(\.running).map { Run($0, at: now) }.filter { $0.time >= Self.moment }
            .sorted { $0.time > $1.time }
    }

    private static let moment = Duration.seconds(1)

    private mutating func add(_ runner: PipelineRunner) {
        for entry in runner.machine.jobs.values {
            jobs[entry.onRecord.recorded, default: 0] += 1
            switch entry.onRecord {
            case .queued(let stage, _): count(stage, of: runner) { $0.queued += 1 }
            case .running(let stage, _): count(stage, of: runner) { $0.running += 1 }
            case .deferred(let stage, _, _): count(stage, of: runner) { $0.deferred += 1 }
            case .settling: break
            }
        }
        for job in runner.jobs.values {
            firstClaim = min(firstClaim ?? job.record.claimedAt, job.record.claimedAt)
            guard case .deferred? = runner.machine.jobs[job.record.id]?.state, let next = job.record.nextAttempt else {
                continue
            }
            nextAttempt = min(nextAttempt ?? next, next)
        }
    }

    /// Counts a job at the stage that is here what it is there.
    private mutating func count(_ stage: Int, of runner: PipelineRunner, _ change: (inout Stage) -> Void) {
        guard runner.places.indices.contains(stage),
            let index = row.indices.contains(stage) && row[stage].place == runner.places[stage]
                ? stage : row.firstIndex(where: { $0.place == runner.places[stage] })
        else { return }
        change(&row[index])
    }
}

extension PipelineGauges.Run {
    fileprivate init(_ running: StageWorkers.Running, at now: MonotonicTime) {
        let progress = running.progress
        (job, time) = (running.work.job.id, now - running.since)
        (bytes, entries) = (progress.bytes, progress.entries)
        total = progress.totalBytes > 0 ? progress.totalBytes : nil
    }
}

extension JobState {
    fileprivate var recorded: JobRecord.State {
        switch self {
        case .queued: .queued
        case .running: .running
        case .deferred: .deferred
        case .settling: .settling
        }
    }
}
