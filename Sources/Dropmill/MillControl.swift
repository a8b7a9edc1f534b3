@preconcurrency import Dispatch
import Files
import Journal
import PipelineConfig
import PipelineEngine
import PipelineKit
import SQLiteJournal
import SystemPackage

/// Starts and stops a mill's engine, on `dropmill.mill`; each start has an engine of its own.
actor MillControl: QueueActor {
    /// What a mill is to do.
    struct Plan: Sendable {
        let load: @Sendable (PipelineLoader) throws(ConfigProblems) -> [Pipeline]
        let registry: StageRegistry
        let state: FilePath
        let keepHistory: Duration
        let report: @Sendable (MillEvent) -> Void
    }

    nonisolated let executor = QueueExecutor(label: "dropmill.mill")
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    private let plan: Plan
    private var engine: Engine?
    private var isOnce = false
    private var isStopping = false
    /// Those that wait for the engine's end.
    private var waiting: [CheckedContinuation<RunSummary, Never>] = []

    init(_ plan: Plan) { self.plan = plan }

    func start() async throws(MillError) {
        while isStopping { _ = await ending() }
        guard engine == nil else {
            if isOnce { throw MillError(.busy, ["the mill runs once just now; start it when `runOnce` has returned"]) }
            return
        }
        try begin(once: false)
    }

    func runOnce() async throws(MillError) -> RunSummary {
        while isStopping { _ = await ending() }
        guard engine == nil else {
            throw MillError(.busy, ["the mill runs already; stop it before `runOnce`, or let it do the work"])
        }
        try begin(once: true)
        let run = engine
        return await withTaskCancellationHandler {
            await ending()
        } onCancel: {
            enqueue { control in
                // By now another one may run.
                if control.engine === run { control.stopEngine(grace: .zero) }
            }
        }
    }

    func stop(grace: Duration) async {
        stopEngine(grace: grace)
        if engine != nil { _ = await ending() }
    }

    func standing() async -> [PipelineStanding] {
        guard let engine else { return [] }
        return await withCheckedContinuation { continuation in
            engine.reportStanding { @Sendable in continuation.resume(returning: $0) }
        }
    }

    func retry(_ id: JobID) async throws(MillError) -> FilePath {
        // The journal closes with the engine; one that runs once ends by itself.
        while isStopping || isOnce { _ = await ending() }
        let result: Resubmission
        do throws(JournalError) {
            if let engine, var resubmission = try engine.resubmission() {
                try resubmission.send(id)
                result = resubmission
            } else {
                result = try resubmit(id)
            }
        } catch {
            throw MillError(.configuration, [error.message])
        }
        guard let sent = result.sent.first else {
            throw MillError(.job, result.problems.map { "\($0.subject): \($0.message)" })
        }
        if let leftover = sent.leftover { plan.report(MillEvent(.warning, leftover)) }
        return sent.path
    }

    /// Without an engine the journal is at rest.
    private func resubmit(_ id: JobID) throws(JournalError) -> Resubmission {
        let journal = try SQLiteStore(in: plan.state).openExisting()
        defer { journal.close() }
        var resubmission = try Resubmission(journal)
        try resubmission.send(id)
        return resubmission
    }

    // MARK: The engine

    func stopEngine(grace: Duration) {
        guard let engine else { return }
        isStopping = true
        engine.stop(grace: grace)
    }

    private func begin(once: Bool) throws(MillError) {
        let report = plan.report
        var registry = plan.registry
        OwnHelpers.add(to: &registry.services)
        let judge = registry.services.service(FormatProgram.self)?.judge
        let pipelines = try pipelines(of: registry, hasJudge: judge != nil)
        let engine = Engine(
            pipelines: pipelines,
            configuration: EngineConfiguration(
                state: plan.state, journal: SQLiteStore(in: plan.state), once: once,
                history: HistoryRule(plan.keepHistory), judge: judge)
        ) { @Sendable in report(MillEvent($0)) }
        do throws(EngineError) {
            try engine.start { @Sendable [self] summary in enqueue { $0.end(summary) } }
        } catch {
            throw MillError(error)
        }
        self.engine = engine
        isOnce = once
    }

    private func pipelines(of registry: StageRegistry, hasJudge: Bool) throws(MillError) -> [Pipeline] {
        let pipelines: [Pipeline]
        do throws(ConfigProblems) {
            pipelines = try plan.load(PipelineLoader(registry: registry, environment: Environment.variables))
        } catch {
            throw MillError(error)
        }
        guard !pipelines.isEmpty else {
            throw MillError(
                .pipelines, ["there is no pipeline; give a pipeline file, a folder of them, or a description"])
        }
        let lacks = pipelines.flatMap { pipeline in
            var lacks = pipeline.allStages.compactMap { entry in
                entry.stage.lack.map { "stage '\(entry.kind)': \($0.summary) \($0.remedy)" }
            }
            if pipeline.ready.complete == .format, !hasJudge {
                lacks.append("'complete: format': \(FormatProgram.missing.summary) \(FormatProgram.missing.remedy)")
            }
            return lacks.map { "\(pipeline.source.text): \($0)" }
        }
        guard lacks.isEmpty else { throw MillError(.pipelines, lacks) }
        return pipelines
    }

    private func ending() async -> RunSummary {
        await withCheckedContinuation { waiting.append($0) }
    }

    private func end(_ summary: RunSummary) {
        engine = nil
        isStopping = false
        isOnce = false
        plan.report(MillEvent(.stopped, "stopped"))
        for continuation in waiting { continuation.resume(returning: summary) }
        waiting = []
    }
}
