import Files
import Journal
import PipelineKit
import SystemPackage

/// A line that a list is to get for something that a settlement publishes.
struct ListedLine {
    /// The move of what it is about.
    let move: Intent
    /// The list's name, in the folder that the move goes to.
    let list: FileName
    let text: ListText

    var folder: FilePath { move.target.removingLastComponent() }
    var path: FilePath { folder.appending(list) }
}

extension Payload {
    /// Whether it or a copy of it gets lines in lists.
    var isListed: Bool { !lines.isEmpty || copies.contains { !$0.lines.isEmpty } }

    /// The lines about what is published from this path.
    func lines(for source: FilePath?) -> [ListLine] {
        if source == path { return lines }
        return copies.first { $0.path == source }?.lines ?? []
    }
}

extension JobRecord {
    /// What a processed job adds to lists. Its payload and its intents say it all, so that nothing more has to be on
    /// record before the moves.
    var listedLines: [ListedLine] {
        guard let payload, payload.isListed else { return [] }
        let listed = payload.copies.map { ($0.path, $0.lines) } + [(payload.path, payload.lines)]
        return intents.filter { $0.role != .sidecar }.flatMap { move -> [ListedLine] in
            guard let name = move.target.lastName, let found = listed.first(where: { $0.0 == move.source }) else {
                return []
            }
            return found.1.map { ListedLine(move: move, list: $0.list, text: $0.text(for: name)) }
        }
    }
}
