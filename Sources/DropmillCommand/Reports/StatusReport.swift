import Control
import Journal
import PipelineKit

/// How things stand: the daemon, and each pipeline.
struct StatusReport {
    struct Row {
        /// Jobs of one stage: waiting for a worker, and with one.
        typealias Stage = (queued: Int, running: Int)

        /// What is known of it; nil where only its jobs are.
        var record: PipelineRecord?
        let name: String
        var jobs: [JobRecord.State: Int] = [:]
        /// How many jobs wait for a stage or are at it, by its place.
        var stages: [Int: Stage] = [:]

        /// What is in its inbox now; nil where only the journal knows.
        var inbox: InboxLook.Inbox?

        /// The nodes that pause, where several share it.
        var pausedOn: [(node: String, record: PipelineRecord)] = []

        /// Who waits for slots that nodes have together, and who has them.
        var slots: [SlotUse] = []

        /// What a person holds it by, and what single nodes where several share it.
        var hold: HoldRecord?
        var heldOn: [HoldRecord] = []

        /// Whether the inbox has not answered the daemon that runs for long.
        var isSilent = false

        /// Whether it has not answered now.
        var isBusy = false

        /// How many jobs stand otherwise than the journal says, which the daemon cannot write.
        var unwritten = 0

        /// That something does not move.
        var stalled: WaitingVerb.Stalled?

        /// That it is outside its hours.
        var outside: String?

        /// Whether the daemon that runs does not run this pipeline.
        var isLeftOut = false

        /// Whether others take its jobs over, as what is under way ends.
        var isEnding = false

        /// Whether it is not run any more, and has left nothing to be seen to.
        var isOver: Bool {
            isLeftOut && hold == nil && heldOn.isEmpty
                && active + self[.deferred] + self[.settling] + self[.lost] == 0
        }

        /// How many drops wait; nil where that is not known.
        var waiting: Int? { isLeftOut || isEnding ? nil : inbox?.waiting ?? record?.waiting }

        /// Why the pipeline pauses, or did at the end.
        var paused: Failure? { record?.paused ?? inbox?.paused }

        /// Jobs that wait for a worker or are with one.
        var active: Int { self[.queued] + self[.running] }

        subscript(_ state: JobRecord.State) -> Int { jobs[state] ?? 0 }

        /// Active jobs by the kind of their stage, in the stages' order.
        var activeStages: [(kind: String, jobs: Stage)] {
            let kinds = record?.stages ?? []
            return stages.sorted { $0.key < $1.key }.map { stage, jobs in
                // Past the last one, a job waits to be settled.
                (
                    kinds.indices.contains(stage) ? kinds[stage] : kinds.count == stage ? "settle" : "#\(stage + 1)",
                    jobs
                )
            }
        }
    }

    /// Whether a daemon holds the state folder, or a node is alive.
    let isRunning: Bool
    /// Those that share the journal; nil: it is one daemon's.
    private(set) var nodes: NodesReport?
    let run: RunRecord?
    private(set) var rows: [Row]
    /// Whether the daemon that runs is about to end.
    private(set) var isStopping = false
    /// Why the daemon that runs does not say what waits; nil where it does, or where none runs.
    private(set) var silence: String?
    /// What of the running daemon's files is not loaded.
    var unloaded: [FilesVerb.Difference] = []
    /// What the running daemon sends in again.
    var runs: [RunsVerb.Run] = []

    init(_ journal: any JournalReading, isRunning: Bool) throws(JournalError) {
        self.isRunning = isRunning
        run = try journal.lastRun()
        var rows: [String: Row] = [:]
        for record in try journal.pipelines() { rows[record.name] = Row(record: record, name: record.name) }
        for count in try journal.counts() {
            var row = rows[count.pipeline] ?? Row(record: nil, name: count.pipeline)
            row.jobs[count.state, default: 0] += count.count
            switch count.state {
            case .queued: row.stages[count.stage, default: (0, 0)].queued += count.count
            case .running: row.stages[count.stage, default: (0, 0)].running += count.count
            default: break
            }
            rows[count.pipeline] = row
        }
        for hold in try journal.holds() where !hold.isOver(at: .now()) {
            var row = rows[hold.pipeline] ?? Row(record: nil, name: hold.pipeline)
            if hold.node == nil { row.hold = hold } else { row.heldOn.append(hold) }
            rows[hold.pipeline] = row
        }
        self.rows = rows.values.sorted { $0.name < $1.name }
    }

    /// Of a journal that nodes share: what waits is what one of them has said last.
    init(_ journal: any JournalReading, of nodes: NodesReport) throws(JournalError) {
        try self.init(journal, isRunning: nodes.nodes.contains { $0.record.isAlive })
        self.nodes = nodes
        for index in rows.indices {
            rows[index].record?.paused = nil
            rows[index].slots = nodes.slots.filter { $0.place.pipeline == rows[index].name && !$0.waiting.isEmpty }
            rows[index].pausedOn = nodes.nodes.flatMap { node in
                node.paused.filter { $0.name == rows[index].name }.map { (node.record.name, $0) }
            }
        }
    }

    mutating func add(_ look: InboxLook) {
        (silence, isStopping) = (look.problem, look.isStopping)
        // A daemon that has just begun is ahead of what is written down.
        let loaded = look.loaded ?? []
        let unknown = loaded.subtracting(rows.map(\.name))
        rows = (rows + unknown.map { Row(record: nil, name: $0) }).sorted { $0.name < $1.name }
        for index in rows.indices {
            rows[index].inbox = look.inboxes[rows[index].name]
            rows[index].isSilent = look.silent.contains(rows[index].name)
            rows[index].stalled = look.stalled[rows[index].name]
            rows[index].outside = look.outside[rows[index].name]
            rows[index].unwritten = look.unwritten[rows[index].name] ?? 0
            rows[index].isBusy = look.busy.contains(rows[index].name)
            rows[index].isEnding = look.ending.contains(rows[index].name)
            rows[index].isLeftOut = isRunning && silence == nil && !loaded.contains(rows[index].name)
        }
    }
}
