import Control
import Files
import PipelineKit

/// The events that browsers get, with numbers by which one that comes back goes on: a pure value.
struct EventFeed: Sendable {
    /// How many are kept for those that come back, and how many bytes.
    private static let kept = 256, mostBytes = 4 << 20
    /// More changes than that at once nobody can follow.
    private static let mostChanges = 512
    static let comment = Array(": still here\n\n".utf8)

    /// Tells the numbers of one server from those of another.
    private let epoch: String
    private var number = 0
    private var events: [(number: Int, bytes: [UInt8])] = []
    private var size = 0
    private var board: BoardVerb.Answer?
    private var files: FilesVerb.Answer?
    /// Whether they are other ones than were told.
    private var areFilesNew = false
    /// Why the daemon is not to be had; nil while it is.
    private var absence: Problem?

    init(epoch: String = Secret.random()) { self.epoch = String(epoch.prefix(8)) }

    /// What one gets first that knows this one, or none.
    func events(after last: String?) -> [[UInt8]] {
        if let last, let known = Self.number(last, of: epoch), known <= number,
            known == number || events.first.map({ $0.number <= known + 1 }) ?? false
        {
            let missed = events.filter { $0.number > known }.map(\.bytes)
            // A longer backlog costs more than a new snapshot.
            if missed.reduce(0, { $0 + $1.count }) <= EventStream.most / 2 { return missed }
        }
        if let absence { return [event("daemon") { Self.write(absence, &$0) }] }
        return board.map { [snapshot($0)] } ?? []
    }

    /// How the daemon stands now.
    mutating func take(_ new: BoardVerb.Answer) -> [[UInt8]] {
        defer { (board, absence, areFilesNew) = (new, nil, false) }
        guard let old = board, absence == nil, old.run == new.run else { return [note(snapshot(new))] }
        let before = Dictionary(old.pipelines.map { ($0.name, $0) }) { first, _ in first }
        let isOther = old.pipelines.map(\.name) != new.pipelines.map(\.name)
        // That nodes are not known any more takes a snapshot, too.
        let isLost = old.nodes != nil && new.nodes == nil
        if isOther || isLost || old.refused != new.refused || old.stopping != new.stopping
            || old.journal != new.journal
        {
            return [note(snapshot(new))]
        }
        let changed = new.pipelines.filter { pipeline in
            var before = before[pipeline.name]
            before?.runs = pipeline.runs
            return before != pipeline
        }
        let nodes = old.nodes == new.nodes ? nil : new.nodes
        let events = [note(event("board") { new.write(changed, areFilesNew ? files : nil, nodes, &$0) })]
        let runs = new.pipelines.filter { before[$0.name]?.runs != $0.runs }.flatMap(\.runs)
        return runs.isEmpty ? events : events + [note(event("progress") { Self.write(runs, &$0) })]
    }

    private static func write(_ runs: [BoardPipeline.Run], _ json: inout JSONText) {
        json.array("jobs") { json in
            for run in runs {
                json.object { json in
                    json.text("id", run.job)
                    run.writeProgress(&json)
                }
            }
        }
    }

    /// How the files stand now: told with the next board.
    mutating func take(_ new: FilesVerb.Answer) {
        if new != files { (files, areFilesNew) = (new, true) }
    }

    private func snapshot(_ board: BoardVerb.Answer) -> [UInt8] { event("snapshot") { board.write(&$0, files) } }

    /// What happened.
    mutating func take(_ changes: [SubscribeVerb.Change]) -> [[UInt8]] {
        guard !changes.isEmpty else { return [] }
        guard changes.count <= Self.mostChanges else { return miss() }
        let event = event("jobs") { json in
            json.array("changes") { json in
                for change in changes { json.object { change.write(&$0) } }
            }
        }
        return [note(event)]
    }

    /// More has happened than is told.
    mutating func miss() -> [[UInt8]] { [note(event("missed") { _ in })] }

    /// The daemon is not to be had: said once.
    mutating func lose(_ problem: Problem) -> [[UInt8]] {
        guard absence != problem else { return [] }
        absence = problem
        return [note(event("daemon") { Self.write(problem, &$0) })]
    }

    /// What is known grows old when nobody asks.
    mutating func forget() { (events, size, board, files, absence) = ([], 0, nil, nil, nil) }

    private static func write(_ problem: Problem, _ json: inout JSONText) {
        json.text("state", "down")
        json.text("code", problem.code)
        json.text("text", problem.fact)
        json.text("remedy", problem.remedy)
    }

    /// Keeps it for those that come back.
    private mutating func note(_ event: [UInt8]) -> [UInt8] {
        number += 1
        let bytes = Array("id: \(epoch)-\(number)\n".utf8) + event
        events.append((number, bytes))
        size += bytes.count
        while events.count > Self.kept || size > Self.mostBytes, !events.isEmpty {
            size -= events.removeFirst().bytes.count
        }
        return bytes
    }

    private func event(_ name: String, _ write: (inout JSONText) -> Void) -> [UInt8] {
        var json = JSONText(after: Array("event: \(name)\ndata: ".utf8))
        json.object(nil, write)
        return json.bytes + Array("\n\n".utf8)
    }

    private static func number(_ id: String, of epoch: String) -> Int? {
        guard id.hasPrefix("\(epoch)-") else { return nil }
        return Int(id.dropFirst(epoch.count + 1))
    }
}

extension SubscribeVerb.Change {
    fileprivate func write(_ json: inout JSONText) {
        json.integer("number", number)
        json.text("at", Timestamp(nanoseconds: at).iso8601)
        json.text("event", event)
        if let pipeline { json.text("pipeline", pipeline) }
        if let job { json.text("job", job) }
        if let code { json.text("code", code) }
        json.text("message", message)
    }
}
