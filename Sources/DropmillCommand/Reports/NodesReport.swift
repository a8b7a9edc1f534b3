import Control
import Files
import Journal
import PipelineKit
import PostgresJournal

/// The nodes that share a journal, for people and for programs.
struct NodesReport: Sendable {
    struct Node: Sendable {
        let record: NodeRecord
        /// What it has said of the pipelines that it pauses.
        let paused: [PipelineRecord]
        /// What people hold on it alone.
        let held: [HoldRecord]

        /// What it does not do, and why.
        var notes: [String] {
            Self.texts(of: held) + paused.map { EscapedText.printable("\($0.name) is paused\(NodesReport.pause($0))") }
        }

        /// `scans is paused by anna 12 min ago: RIP is down`
        static func texts(of holds: [HoldRecord]) -> [String] {
            holds.map { EscapedText.printable("\($0.pipeline) is \($0.text(at: .now()))") }
        }

        /// For programs.
        var state: String {
            record.isAlive ? "alive" : record.isWaiting ? "waiting" : record.isDead ? "dead" : "silent"
        }

        /// For people.
        var text: String {
            switch (state, record.jobs) {
            case ("alive", _): "alive"
            case ("waiting", _): "waits for its name, which another node has"
            case ("silent", _): "silent for \((Duration.zero - record.lease).text)"
            case (_, 0): "dead"
            default: "dead, with jobs that nobody has taken over yet"
            }
        }
    }

    let nodes: [Node]
    /// Slots that they have together.
    let slots: [SlotUse]
    /// What people hold on all of them.
    let held: [HoldRecord]

    /// Nil where the journal is not one that nodes share. `all`: also those that are dead and have left nothing.
    init?(_ journal: any JournalReading, all: Bool = false) throws(JournalError) {
        guard let journal = journal as? PostgresJournal else { return nil }
        let standings = try journal.standings()
        slots = try journal.slotsInUse()
        let known = try journal.nodes().filter { all || !$0.isDead || $0.jobs > 0 }
        let holds = try journal.holds().filter { !$0.isOver(at: .now()) }
        held = holds.filter { $0.node == nil }
        nodes = known.sorted { ($0.isAlive ? 0 : 1, $0.name, $1.since) < ($1.isAlive ? 0 : 1, $1.name, $0.since) }.map {
            record in
            // What was said last is of the one that is alive.
            Node(
                record: record,
                paused: record.isAlive ? (standings[record.name] ?? []).filter { $0.paused != nil } : [],
                held: holds.filter { $0.node == record.name })
        }
    }

    /// What `status` says of them.
    var summary: [String] {
        let alive = nodes.filter(\.record.isAlive).map(\.record.name)
        let names = alive.map { EscapedText.printable($0) }.joined(separator: ", ")
        let first =
            switch alive.count {
            case 0: "no node is alive"
            case 1: "one node is alive: \(names)"
            default: "\(alive.count) nodes are alive: \(names)"
            }
        return [first]
            + nodes.map { node in
                let jobs = node.record.jobs == 1 ? "1 job" : "\(node.record.jobs) jobs"
                let text = node.record.isAlive ? "its lease holds for \(node.record.lease.text)" : node.text
                let pauses = node.paused.isEmpty ? "" : ", pauses \(node.paused.map(\.name).joined(separator: ", "))"
                return EscapedText.printable("\(node.record.name): \(jobs), \(text)\(pauses)")
            }
    }

    var lines: [String] {
        var table = TextTable([
            ("NODE", .left), ("HOST", .left), ("VERSION", .left), ("SINCE", .left), ("LEASE", .right), ("JOBS", .right),
            ("STATE", .left),
        ])
        for node in nodes {
            let record = node.record
            table.add([
                EscapedText.printable(record.name), EscapedText.printable(record.host),
                EscapedText.printable(record.version), record.since.localText,
                record.holdsLease ? record.lease.text : "over", "\(record.jobs)", node.text,
            ])
        }
        let laidOut = table.lines
        return [laidOut[0]]
            + zip(nodes, laidOut.dropFirst()).flatMap { node, line in
                [line] + node.notes.map { "  \($0)" }
            } + Node.texts(of: held).map { "on all nodes \($0)" }
    }

    /// ` since 2026-11-28 15:00:01: the disk is full`
    static func pause(_ record: PipelineRecord) -> String {
        let since = record.pausedSince.map { " since \($0.localText)" } ?? ""
        return "\(since): \(record.paused?.summary ?? "")"
    }

    var json: String {
        var json = JSONText()
        json.object { write(&$0) }
        return json.string
    }

    func write(_ json: inout JSONText) {
        json.array("nodes") { json in
            for node in nodes { json.object { Self.write(node, &$0) } }
        }
        Self.write(held, &json)
    }

    private static func write(_ node: Node, _ json: inout JSONText) {
        json.text("name", node.record.name)
        json.text("incarnation", node.record.incarnation)
        json.text("host", node.record.host)
        json.text("version", node.record.version)
        json.text("since", node.record.since.iso8601)
        json.text("state", node.state)
        json.seconds("lease_s", node.record.lease)
        json.integer("jobs", node.record.jobs)
        json.array("paused") { json in
            for record in node.paused {
                json.object { json in
                    json.text("pipeline", record.name)
                    write(record, &json)
                }
            }
        }
        write(node.held, &json)
    }

    private static func write(_ held: [HoldRecord], _ json: inout JSONText) {
        guard !held.isEmpty else { return }
        json.array("held") { json in
            for hold in held {
                json.object { json in
                    json.text("pipeline", hold.pipeline)
                    hold.write(&json)
                }
            }
        }
    }

    /// Since when it is paused, and why.
    static func write(_ record: PipelineRecord, _ json: inout JSONText) {
        if let since = record.pausedSince { json.text("since", since.iso8601) }
        if let failure = record.paused { json.object("failure") { JobJSON.write(failure, &$0) } }
    }
}
