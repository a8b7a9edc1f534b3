package import Files
package import Journal
package import PipelineKit

/// What unfinished jobs may wait for besides a worker: their pipeline, a person, or a daemon at all.
package struct JobSurroundings {
    private let pauses: [Pause]
    private let holds: [HoldRecord]
    private let isRunning: Bool?
    /// The pipelines that the daemon runs; nil if unknown.
    package var loaded: Set<String>?
    /// The kinds of the stages of each pipeline, as far as they are known.
    private var stages: [String: [String]] = [:]
    /// Which run for longer than a moment, by their ids.
    private var runs: [String: BoardPipeline.Run] = [:]
    private let now: Timestamp

    /// `holds`: what people hold; `isRunning`: whether a daemon runs; nil if unknown.
    package init(
        of pipelines: [PipelineRecord] = [], holds: [HoldRecord] = [], isRunning: Bool? = nil,
        at now: Timestamp = .now()
    ) {
        self.init(holds: holds, pauses: Pause.all(of: pipelines, on: nil), isRunning: isRunning, at: now)
    }

    private init(holds: [HoldRecord], pauses: [Pause], isRunning: Bool?, at now: Timestamp) {
        self.pauses = pauses
        self.holds = holds
        self.isRunning = isRunning
        self.now = now
    }

    /// That trouble pauses a pipeline, on one node where several share the journal.
    private struct Pause {
        let pipeline: String
        let node: String?
        let failure: Failure

        static func all(of pipelines: [PipelineRecord], on node: String?) -> [Pause] {
            pipelines.compactMap { record in
                record.paused.map { Pause(pipeline: record.name, node: node, failure: $0) }
            }
        }
    }

    /// By what the daemon says of itself.
    package init(of board: BoardVerb.Answer) {
        let own = board.pipelines.compactMap { pipeline in
            pipeline.paused.map { Pause(pipeline: pipeline.name, node: board.node, failure: $0.failure) }
        }
        let others = (board.nodes ?? []).filter { $0.name != board.node }
        self.init(
            holds: board.pipelines.compactMap { pipeline in pipeline.hold.map { $0.record(of: pipeline.name) } }
                + (board.held ?? []).map(\.record) + others.flatMap { $0.held.map(\.record) },
            pauses: own
                + others.flatMap { node in
                    node.paused.map { Pause(pipeline: $0.pipeline, node: node.name, failure: $0.why.failure) }
                },
            isRunning: true, at: .now())
        stages = Dictionary(board.pipelines.map { ($0.name, $0.stages.map(\.kind)) }) { $1 }
        loaded = Set(board.pipelines.map(\.name))
        runs = Dictionary(board.pipelines.flatMap(\.runs).map { ($0.job, $0) }) { $1 }
    }

    /// By what the journal says.
    package init(_ journal: any JournalReading, isRunning: Bool?) throws(JournalError) {
        let holds = try journal.holds()
        guard let shared = journal as? any SharedJournal else {
            let pauses = Pause.all(of: try journal.pipelines(), on: try journal.tellingNode())
            self.init(holds: holds, pauses: pauses, isRunning: isRunning, at: .now())
            return
        }
        // What was said last of a node that is dead is no more.
        let alive = Set(try shared.nodes().filter(\.isAlive).map(\.name))
        let standings = try shared.standings().filter { alive.contains($0.key) }
        self.init(
            holds: holds, pauses: standings.flatMap { Pause.all(of: $1, on: $0) }, isRunning: isRunning, at: .now())
    }

    /// Why a job makes no progress, whatever its state; nil if it does or is finished. What was paused when a daemon
    /// ended is not any more, but for what a person paused.
    package func hindrance(of record: JobRecord) -> String? {
        if record.state.isFinal { return nil }
        let reasons = [
            isRunning == false ? "no daemon is running" : nil,
            isUnloaded(record) ? "the daemon does not run its pipeline '\(record.pipeline)'" : nil,
            hold(of: record)?.text(at: now),
            pause(of: record).map { "the pipeline is paused: \($0.summary)" },
        ]
        let all = reasons.compactMap { $0 }
        return all.isEmpty ? nil : all.joined(separator: "; ")
    }

    /// The kind of stage at which it is, or at which it failed; nil if unknown.
    package func stage(of record: JobRecord) -> String? {
        if record.state.isFinal { return record.failedStage }
        return stages[record.pipeline].flatMap { $0.indices.contains(record.stage) ? $0[record.stage] : nil }
    }

    /// How far its stage is; nil where none runs, or that is not known.
    package func run(of record: JobRecord) -> BoardPipeline.Run? { record.state.isFinal ? nil : runs[record.id.text] }

    /// Whether a daemon runs, but not the pipeline of an unfinished job.
    package func isUnloaded(_ record: JobRecord) -> Bool {
        guard !record.state.isFinal, isRunning == true, let loaded else { return false }
        return !loaded.contains(record.pipeline)
    }

    /// Why an unfinished job's pipeline is paused; nil if it is not.
    package func pause(of record: JobRecord) -> Failure? {
        guard !record.state.isFinal, isRunning != false else { return nil }
        return pauses.first { $0.pipeline == record.pipeline && ($0.node == nil || $0.node == record.node) }?.failure
    }

    /// By what a person keeps a job from its next stage; nil where nobody does.
    package func hold(of record: JobRecord) -> HoldRecord? {
        guard [.queued, .deferred].contains(record.state) else { return nil }
        let hold = holds.filter { !$0.isOver(at: now) }.inForce(on: record.node)[record.pipeline]
        return hold?.kind == .pause ? hold : nil
    }
}
