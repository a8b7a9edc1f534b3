import ArgumentParser
import Journal
import PipelineKit
import SystemPackage

/// What shells offer for what the journal knows, as the daemon or the file tells it: names of pipelines, and jobs that
/// the verb can do something with.
enum Completion {
    static let pipelines = CompletionKind.custom { words, _, _ in
        let records = folder(words).peek { journal throws(JournalError) in try journal.pipelines() }
        return (records ?? []).map(\.name)
    }

    static let jobs = CompletionKind.custom { words, _, _ in
        var query = JobQuery()
        query.states = states(for: words.dropFirst().first ?? "")
        query.limit = most
        let records = folder(words).peek { [query] journal throws(JournalError) in try journal.jobs(query) } ?? []
        return candidates(of: records)
    }

    private static let most = 50

    /// Ids, and the names that shells need not quote.
    static func candidates(of records: [JobRecord]) -> [String] {
        var names: [String] = []
        for record in records where !names.contains(record.drop.name.text) { names.append(record.drop.name.text) }
        let isPlain = { (name: String) in
            !name.isEmpty && name.utf8.allSatisfy { plain.contains($0) } && !name.hasPrefix("-")
        }
        return names.filter(isPlain) + records.map(\.id.text)
    }

    private static let plain = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-+,@%".utf8)

    static func states(for verb: String) -> [JobRecord.State] {
        switch verb {
        case "retry": [.failed]
        case "replay": [.processed]
        case "cancel", "release", "bump", "forget": JobRecord.State.unfinished
        default: []
        }
    }

    /// The state folder and the journal that the words typed so far name.
    private static func folder(_ words: [String]) -> StateFolder {
        func given(_ option: String) -> String? {
            words.firstIndex(of: option).flatMap { words.indices.contains($0 + 1) ? words[$0 + 1] : nil }
        }
        return StateFolder(given: given("--state-dir").map { FilePath($0) })
            .sharing(given("--journal") ?? JournalOption.configured)
    }
}
