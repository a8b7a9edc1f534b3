import Dispatch
import Files
import Glibc
import Journal
import PipelineKit
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import FolderWatch
@testable import PipelineEngine
@testable import Readiness
@testable import SQLiteJournal

/// An engine over one pipeline in a scratch folder, with what it said.
final class EngineHarness: Sendable {
    private struct State {
        var events: [EngineEvent] = []
        var listener: (@Sendable (EngineEvent) -> Void)?
        var summary: RunSummary?
        var stopBegan: ContinuousClock.Instant?
        var stopTook: Duration?
    }

    let scratch: ScratchFolder
    let pipeline: Pipeline
    private let state = Mutex(State())
    private let engine: Mutex<Engine?> = Mutex(nil)

    init(
        scratch: ScratchFolder, stages: [StageEntry], quiet: Duration = .milliseconds(100),
        adjust: (inout Pipeline) -> Void = { _ in }
    ) throws {
        self.scratch = scratch
        var pipeline = Pipeline(
            name: "test", source: "test.yaml", inbox: scratch.path("inbox"),
            processed: .folder(scratch.path("processed")),
            failed: scratch.path("failed"), ready: ReadyRule(quiet: quiet), durability: .fast, stages: stages)
        adjust(&pipeline)
        self.pipeline = pipeline
        try Folder.make(pipeline.inbox)
    }

    var events: [EngineEvent] { state.withLock { $0.events } }
    var summary: RunSummary? { state.withLock { $0.summary } }
    /// From the call of `stop` to the summary, whenever the test gets to see that.
    var stopTook: Duration? { state.withLock { $0.stopTook } }

    /// Calls the body with what it says from now on, while the engine waits for it.
    func listen(_ body: @escaping @Sendable (EngineEvent) -> Void) { state.withLock { $0.listener = body } }

    /// `judge`: who tells whether files are whole.
    func start(
        once: Bool = false, asking judge: FormatJudge? = nil, stall: Duration = .seconds(600),
        yielding: Duration = .seconds(60), jobsAtOnce: Int? = nil, history: HistoryRule = HistoryRule(),
        journal: (any JournalStore)? = nil, now: @escaping @Sendable () -> Timestamp = { .now() }
    ) throws {
        var configuration = EngineConfiguration(
            state: scratch.path("state"), journal: journal ?? SQLiteStore(in: scratch.path("state")), once: once,
            history: history, judge: judge)
        configuration.now = now
        configuration.stall = stall
        configuration.yielding = yielding
        configuration.jobsAtOnce = jobsAtOnce
        let engine = Engine(pipelines: [pipeline], configuration: configuration) { @Sendable [self] event in
            let listener = state.withLock { state in
                state.events.append(event)
                return state.listener
            }
            listener?(event)
        }
        state.withLock { $0.summary = nil }
        try engine.start { @Sendable [self] summary in
            state.withLock {
                $0.summary = summary
                $0.stopTook = $0.stopBegan.map { .now - $0 }
            }
        }
        self.engine.withLock { $0 = engine }
    }

    /// What looks after other nodes.
    var takeover: Takeover? { engine.withLock { $0 }?.sync { $0.takeover } }

    /// Who shares the inbox with it.
    var livingNodes: LivingNodes? { engine.withLock { $0 }?.sync { $0.livingNodes } }

    /// Has it look at them no more by itself, but when it hears of something.
    func onlyHear() throws {
        try #require(engine.withLock { $0 }).sync { engine in
            engine.takeover?.stop()
            engine.watchNodes(every: .seconds(3600))
        }
        // The first look.
        takeover?.sync { _ in }
    }

    /// Takes other pipelines in place of those that are loaded.
    func reload(_ pipelines: [Pipeline], patience: Double = 20) throws -> [PipelineChange] {
        guard let engine = engine.withLock({ $0 }) else { return [] }
        return try engine.reload(pipelines, patience: patience).changes
    }

    /// Lets no order of a person, and no reload, be put in force before that is signalled.
    func holdUpOrders(until gate: DispatchSemaphore) throws {
        try #require(engine.withLock { $0 }).sync { engine in
            engine.holding.async { @Sendable in gate.wait() }
        }
    }

    /// How long its end waits for what does not answer.
    func limitEnd(to patience: Duration) throws {
        try #require(engine.withLock { $0 }).sync { $0.patienceAtEnd = patience }
    }

    /// Holds pipelines, or lifts that.
    @discardableResult
    func hold(_ names: [String], _ order: HoldOrder) throws -> HoldChange {
        try #require(engine.withLock { $0 }).hold(names, order)
    }

    /// The job of the only drop that has this name, once it is claimed.
    func job(_ name: String) async throws -> JobID {
        _ = await eventually { claimed.contains { $0.drop.name.text == name } }
        return try #require(claimed.first { $0.drop.name.text == name }).id
    }

    /// What the journal says of a job.
    func record(_ id: JobID) throws -> JobRecord? {
        let journal = try SQLiteJournal.open(reading: scratch.path("state"))
        defer { journal.close() }
        return try journal.job(id)
    }

    /// Calls jobs off, for somebody.
    func callOff(_ ids: [JobID], by person: String = "anna") throws -> [CallingOff] {
        guard let engine = engine.withLock({ $0 }) else { return [] }
        return try engine.callOff(ids, by: person).outcomes
    }

    /// The same; why that is not on record.
    func callOff(unwritten id: JobID) throws -> JournalError? {
        try #require(engine.withLock { $0 }).callOff([id], by: "anna").unwritten
    }

    /// Sends drops back to the inbox, for somebody.
    func release(_ ids: [JobID], by person: String = "anna") throws -> [Releasing] {
        try #require(engine.withLock { $0 }).release(ids, by: person)
    }

    /// Puts a job first or last; what was said of that.
    func bump(_ id: JobID, last: Bool = false) throws -> String {
        let engine = try #require(engine.withLock { $0 })
        do throws(EngineError) {
            return try engine.bump(id, last: last)
        } catch {
            return error.message
        }
    }

    /// The same with a drop, by its path.
    func bump(_ path: String, last: Bool = false) async throws -> String {
        let engine = try #require(engine.withLock { $0 })
        return await withCheckedContinuation { continuation in
            engine.bump(Array(path.utf8), of: "test", last: last) { @Sendable result in
                switch result {
                case .success(let text): continuation.resume(returning: text)
                case .failure(let error): continuation.resume(returning: error.message)
                }
            }
        }
    }

    /// Which generation of each pipeline runs.
    var generations: [String: Int] {
        guard let engine = engine.withLock({ $0 }) else { return [:] }
        return engine.sync { engine in
            Dictionary(engine.runners.map { ($0.id.name, $0.id.generation) }) { first, _ in first }
        }
    }

    /// Its journal, while it runs.
    var journal: SQLiteJournal? { engine.withLock { $0 }?.sync { $0.opened?.journal } as? SQLiteJournal }

    /// What it writes with: what is written beside it may come before what was noted earlier.
    var writer: JournalWriter? { engine.withLock { $0 }?.sync { $0.opened?.writer } }

    /// How many work folders that its pipelines had before have something left to be done.
    var tails: Int { engine.withLock { $0 }?.sync { $0.tails.count } ?? 0 }

    /// Whether a folder is none that outputs may go to.
    func isReserved(_ folder: FilePath) -> Bool {
        guard let identity = FileIdentity.of(folder) else { return false }
        return engine.withLock { $0 }?.sync { $0.reserved.reserved(identity) != nil } ?? false
    }

    /// How many runners of earlier generations are left.
    var retired: Int { engine.withLock { $0 }?.sync { $0.retired.count } ?? 0 }

    func stop(grace: Duration = .seconds(10)) async -> RunSummary? {
        state.withLock { $0.stopBegan = .now }
        engine.withLock { $0 }?.stop(grace: grace)
        _ = await eventually { summary != nil }
        engine.withLock { $0 = nil }
        return summary
    }

    /// These pipelines have not begun, since their folders do not answer.
    func leaveOut(_ pipelines: [String: FilePath]) throws { try #require(engine.withLock { $0 }).wait(for: pipelines) }

    /// How its pipelines stand, in numbers.
    var gauges: [PipelineGauges] { engine.withLock { $0 }?.gauges ?? [] }

    /// A page of the drops in the inbox.
    func listing(_ question: DropQuestion) async throws -> DropListing {
        let engine = try #require(engine.withLock { $0 })
        let found = await withCheckedContinuation { answered in
            engine.reportDrops({ @Sendable _ in question }) { @Sendable in answered.resume(returning: $0) }
        }
        return try #require(found[pipeline.name])
    }

    /// How many failed jobs nobody has seen to.
    func openFailures() throws -> [String: Int] { try #require(engine.withLock { $0 }).openFailures() }

    /// How the engine is.
    var health: EngineHealth { engine.withLock { $0 }?.health ?? EngineHealth() }

    /// What waits in all inboxes, and which do not answer.
    func waitingReport(within patience: Duration = .seconds(4)) async -> WaitingReport {
        guard let engine = engine.withLock({ $0 }) else { return WaitingReport() }
        return await withCheckedContinuation { continuation in
            engine.reportWaiting(limit: 0, within: patience) { @Sendable in continuation.resume(returning: $0) }
        }
    }

    /// How the producers of the pipeline stand.
    func producers() async -> [ProducerStanding] {
        guard let engine = engine.withLock({ $0 }) else { return [] }
        return await withCheckedContinuation { continuation in
            engine.reportProducers(of: nil, limit: 100) { found in
                continuation.resume(returning: found["test"]?.producers ?? [])
            }
        }
    }

    /// What waits in the inbox, as the engine tells it.
    func waiting(limit: Int = 10) async -> InboxSnapshot {
        guard let engine = engine.withLock({ $0 }) else { return InboxSnapshot() }
        return await withCheckedContinuation { continuation in
            engine.reportWaiting(limit: limit) { @Sendable in
                continuation.resume(returning: $0.inboxes["test"] ?? InboxSnapshot())
            }
        }
    }

    /// What one file waits for.
    func waiting(for path: String, of pipeline: String = "test") async -> WaitingDrop? {
        guard let engine = engine.withLock({ $0 }) else { return nil }
        return await withCheckedContinuation { continuation in
            engine.reportWaiting(Array(path.utf8), of: pipeline) { @Sendable in continuation.resume(returning: $0) }
        }
    }

    /// How long the pipeline waits before it tries again; doubled by each probe that failed.
    var pauseBeforeProbe: Duration {
        guard let engine = engine.withLock({ $0 }) else { return .zero }
        return engine.sync { $0.runners.first?.machine.pause.delay ?? .zero }
    }

    /// The queue of its intake.
    var intakeQueue: DispatchQueue? {
        guard let engine = engine.withLock({ $0 }) else { return nil }
        return engine.sync { $0.runners.first?.intake.executor.queue }
    }

    /// How many looks at all processes its drops took.
    var scans: Int {
        guard let engine = engine.withLock({ $0 }) else { return 0 }
        return engine.sync { $0.runners.first?.intake.spool.sight.scans ?? 0 }
    }

    /// The reports of jobs that are over.
    var reports: [JobReport] {
        events.compactMap { if case .settled(let report) = $0 { report } else { nil } }
    }

    /// Writes a file in the inbox.
    func dropHere(_ name: String, _ contents: String = "x") throws {
        try scratch.write(Array(contents.utf8), to: pipeline.inbox.appending(try name.fileName))
    }

    /// Puts a file into the inbox at once, as `mv` does.
    func drop(_ name: String, _ contents: String = "x") throws { try drop(try name.fileName, Array(contents.utf8)) }

    func drop(_ name: FileName, _ contents: [UInt8]) throws {
        let outside = scratch.path.appending(try ".outside-\(UInt64.random(in: 0 ... .max))".fileName)
        try scratch.write(contents, to: outside)
        let target = pipeline.inbox.appending(name)
        guard outside.withPlatformString({ from in target.withPlatformString { rename(from, $0) } }) == 0 else {
            throw IOError("rename", target, .last)
        }
    }
}

struct NotAName: Error {}

extension String {
    var fileName: FileName { get throws { if let name = FileName(self) { name } else { throw NotAName() } } }
}
