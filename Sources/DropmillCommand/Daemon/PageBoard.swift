import Control
import Files
import FoundationEssentials
import Glibc
import Journal
import PipelineEngine
import PipelineKit
import Synchronization
import SystemPackage

/// Tells how each pipeline stands, for the page. Called on the look's queue.
final class PageBoard: Sendable {
    private struct Memory {
        let time: Timestamp
        let answer: BoardVerb.Answer
    }

    private let look: SharedLook
    private let reloader: Reloader
    /// The daemon's run, as the feed has it.
    private let run: String
    private let began = Timestamp.now()
    private let last = Mutex<Memory?>(nil)

    init(_ look: SharedLook, _ reloader: Reloader, run: String) {
        (self.look, self.reloader, self.run) = (look, reloader, run)
    }

    var answer: BoardVerb.Answer {
        let finding = look.finding
        if let last = last.withLock({ $0 }), last.time == finding.time { return last.answer }
        let answer = answer(finding)
        last.withLock { $0 = Memory(time: finding.time, answer: answer) }
        return answer
    }

    private func answer(_ finding: SharedLook.Finding) -> BoardVerb.Answer {
        let (now, day) = (finding.time, HostDay(of: finding.time))
        var answer = BoardVerb.Answer(
            run: run, version: BuildVersion.number, host: Self.host, zone: HostZone.name,
            offset: HostZone.offset(at: now.nanoseconds.floored(by: 1_000_000_000)), now: now.nanoseconds,
            started: (finding.run?.startedAt ?? began).nanoseconds, today: day.start.nanoseconds)
        let silent = Dictionary(reloader.silent.compactMap { left in left.name.map { ($0, left) } }) { first, _ in first
        }
        answer.pipelines = finding.gauges.map { BoardPipeline($0, finding, day, silent[$0.name]) }
        answer.node = finding.nodes?.node
        answer.nodes = finding.nodes?.report?.board
        answer.held = finding.nodes?.report?.held.map { BoardNode.Held($0) }
        if finding.isStopping { answer.stopping = true }
        answer.journal = look.engine.journalTrouble?.message
        if case .refused(let problems) = reloader.last?.outcome { answer.refused = problems }
        return answer
    }

    private static var host: String {
        var name = [CChar](repeating: 0, count: 256)
        _ = gethostname(&name, name.count - 1)
        return EscapedText.of(name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) })
    }
}

extension BoardPipeline {
    /// `silent`: where its folders do not answer.
    fileprivate init(
        _ gauges: PipelineGauges, _ finding: SharedLook.Finding, _ day: HostDay, _ silent: PipelineReading.Silence?
    ) {
        let now = finding.time
        let (file, inbox) = (gauges.source ?? silent?.file, gauges.inbox ?? silent?.place)
        let figures = finding.figures?[gauges.name]
        self.init(
            name: gauges.name, file: Data(file?.absolute.bytes ?? []), inbox: Data(inbox?.absolute.bytes ?? []),
            jobs: Jobs(gauges, failed: finding.openFailures.map { $0[gauges.name] ?? 0 }, finding.nodes),
            today: Today(figures?.day, of: day), minutes: Minutes(gauges.lately, at: now))
        hold = gauges.hold.map { Hold($0) }
        paused = gauges.trouble.map { .init($0.reason) }
        pausedSince = gauges.trouble?.since?.nanoseconds
        stalled = gauges.stall.map { .init($0) }
        opens = gauges.outside.map { $0.opens?.nanoseconds ?? 0 }
        let snapshot = finding.inboxes[gauges.name]
        waiting = snapshot.map { Waiting($0) }
        oldest = [gauges.firstClaim.map { now - $0 }, snapshot?.oldest].compactMap(\.self).max().map {
            max(0, $0.seconds)
        }
        lastSettled = figures?.lastEnd?.nanoseconds
        free = Self.free(gauges, finding.spaces)
        stages = gauges.row.map { Stage($0, gauges.lately, at: now) }
        runs = gauges.runs.prefix(Self.mostRuns).map {
            Run(job: $0.job.text, time: $0.time.seconds, bytes: $0.bytes, entries: $0.entries, total: $0.total)
        }
        upload = gauges.pipeline.flatMap { Upload($0) }
    }

    private static let mostRuns = 100

    /// Of each file system once.
    private static func free(_ gauges: PipelineGauges, _ spaces: [FilePath: FreeSpace.Space]) -> [Free] {
        var seen: Set<[UInt64]> = []
        return gauges.folders.compactMap { folder in
            guard let space = spaces[folder], seen.insert([space.fileSystem, space.total]).inserted else { return nil }
            return Free(
                folder: Data(folder.absolute.bytes), free: Int64(clamping: space.free),
                total: Int64(clamping: space.total), kept: gauges.minFree.bytes)
        }
    }
}

extension BoardPipeline.Jobs {
    /// Of all nodes, where several share the journal.
    fileprivate init(_ gauges: PipelineGauges, failed: Int?, _ nodes: NodesLook.Finding?) {
        self.init()
        func count(_ state: JobRecord.State) -> Int {
            let others = nodes?.elsewhere.filter { $0.pipeline == gauges.name && $0.state == state } ?? []
            return others.reduce(gauges.jobs[state] ?? 0) { $0 + $1.count }
        }
        queued = count(.queued)
        running = count(.running)
        deferred = count(.deferred)
        settling = count(.settling)
        self.failed = failed
        nextAttempt = gauges.nextAttempt?.nanoseconds
    }
}

extension NodesReport {
    /// Those that are alive, or have jobs.
    fileprivate var board: [BoardNode] {
        // What nodes gave up is that of one which never was on any host; who waits for its name is none yet.
        nodes.filter { node in
            let record = node.record
            return !record.host.isEmpty && !record.isWaiting && (!record.isDead || record.jobs > 0)
        }.map { node in
            var board = BoardNode(node.record)
            board.paused = node.paused.compactMap { record in
                record.paused.map {
                    BoardNode.Paused(pipeline: record.name, why: .init($0), since: record.pausedSince?.nanoseconds)
                }
            }
            board.held = node.held.map { BoardNode.Held($0) }
            return board
        }
    }
}

extension BoardPipeline.Waiting {
    fileprivate init(_ snapshot: InboxSnapshot) {
        self.init(
            drops: snapshot.waiting, complete: snapshot.complete, completeBytes: snapshot.completeBytes,
            oldest: snapshot.oldest?.seconds, leftAlone: snapshot.leftCount + snapshot.untaken)
    }
}

extension BoardPipeline.Today {
    /// Nothing where what was counted last is of another day.
    fileprivate init(_ counted: Figures.Day?, of day: HostDay) {
        guard let counted, counted.begin == day.begin else {
            self.init()
            return
        }
        self.init(
            processed: Int(clamping: counted.processed), failed: Int(clamping: counted.failed),
            bytes: Int64(clamping: counted.bytes))
    }
}

extension BoardPipeline.Minutes {
    fileprivate init(_ lately: Lately, at now: Timestamp) {
        let tallies = lately.ended.values(at: now)
        self.init(
            last: MinuteBuckets<Lately.Tally>.beginning(of: now).nanoseconds, jobs: tallies.map(\.jobs),
            failed: tallies.map(\.failed), bytes: tallies.map(\.bytes))
    }
}

extension BoardPipeline.Stage {
    fileprivate init(_ stage: PipelineGauges.Stage, _ lately: Lately, at now: Timestamp) {
        self.init(
            kind: stage.place.kind, label: stage.label, workers: stage.workers, queued: stage.queued,
            running: stage.running, deferred: stage.deferred, usual: lately.usualTime(of: stage.place)?.seconds,
            failedLastHour: lately.failures(of: stage.place, at: now))
    }
}
