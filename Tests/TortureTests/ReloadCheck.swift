import Digests
import Files
import Journal
import PipelineKit
import SQLiteJournal
import SystemPackage
import TestSupport

/// One look at all that a mill has dropped: each in exactly one place, what came of it whole, by one configuration.
struct ReloadCheck {
    let drops: [String: ReloadMill.Drop]
    let loaded: [Int: ReloadMill.Config]
    let isSettled: Bool
    var problems: [String] = []
    /// Where each drop itself is.
    private var places: [String: [String]] = [:]
    /// What is published, by configuration and path there.
    private var published: [Int: [String: [UInt8]]] = [:]

    init(drops: [String: ReloadMill.Drop], loaded: [Int: ReloadMill.Config], isSettled: Bool) {
        (self.drops, self.loaded, self.isSettled) = (drops, loaded, isSettled)
    }

    mutating func look(at root: FilePath) throws {
        for folder in try Folder.names(in: root).sorted() where !["pipelines", "state"].contains(folder.text) {
            let base = root.appending(folder)
            guard Folder.kind(of: base) == .folder else { continue }
            for file in try FileTree.list(base).files {
                let words = file.relative.components.map(\.string)
                try find(words, in: folder.text, try ScratchFolder.read(base.pushing(file.relative)))
            }
        }
    }

    private mutating func find(_ words: [String], in folder: String, _ content: [UInt8]) throws {
        let name = words.last ?? ""
        switch folder {
        case ".dropmill":
            // Stages have copies of their own deeper in a job's folder.
            if words.count == 4, words[1] == "active", !name.hasPrefix(".") {
                note(name, "work", content)
            } else if isSettled, words.count > 3 {
                problems.append("left in a job's folder: \(words.joined(separator: "/"))")
            }
        case "output":
            guard let tag = words.first.flatMap({ Int($0.dropFirst()) }) else {
                return problems.append("'\(name)' is in no configuration's folder")
            }
            published[tag, default: [:]][words.dropFirst().joined(separator: "/")] = content
        default: note(name, folder, content)
        }
    }

    private mutating func note(_ name: String, _ place: String, _ content: [UInt8]) {
        guard let drop = drops[name] else {
            if isSettled || place != "failed" { problems.append("'\(name)' in \(place), which nobody dropped") }
            return
        }
        if drop.content != content { problems.append("'\(name)' in \(place) has other bytes") }
        places[name, default: []].append(place)
    }

    mutating func judge() {
        for (tag, files) in published {
            guard let config = loaded[tag] else {
                problems.append("\(files.count) files of configuration \(tag), which was never loaded")
                continue
            }
            if config.unpacks { judgeFolders(files, of: config) } else { judgeFiles(files, of: config) }
        }
        for drop in drops.values {
            let found = places[drop.name] ?? []
            let end = drop.members.isEmpty ? "output" : "processed"
            if found.count != 1 {
                problems.append("'\(drop.name)' is in \(found.isEmpty ? "no place" : found.joined(separator: ", "))")
            } else if isSettled, found != [end] {
                problems.append("'\(drop.name)' ended in \(found[0])")
            }
        }
    }

    /// Files with their digests beside them.
    private mutating func judgeFiles(_ files: [String: [UInt8]], of config: ReloadMill.Config) {
        var rest = files
        for (name, content) in files {
            guard let drop = drops[name] else { continue }
            rest[name] = nil
            note(name, "output", content)
            expect(drop, of: config)
            let beside = rest.removeValue(forKey: name + config.sidecar)
            if beside != Self.line(content, name, config.algorithm) {
                problems.append("'\(name)' of configuration \(config.tag) has not its digest beside it")
            }
        }
        for name in rest.keys where isSettled || drops[String(name.prefix { $0 != "." }) + ".txt"] == nil {
            problems.append("'\(name)' of configuration \(config.tag) belongs to nothing")
        }
    }

    /// Folders with all that was in an archive, and its list.
    private mutating func judgeFolders(_ files: [String: [UInt8]], of config: ReloadMill.Config) {
        let folders = Dictionary(grouping: files) { String($0.key.prefix { $0 != "/" }) }
        for (stem, found) in folders {
            guard let drop = drops["\(stem).zip"] else {
                problems.append("the folder '\(stem)' of configuration \(config.tag) belongs to nothing")
                continue
            }
            expect(drop, of: config)
            let lines = drop.members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
                .flatMap { Self.line($0.value, $0.key, config.algorithm) }
            var expected = drop.members
            expected[ReloadMill.Config.manifest] = lines
            let contents = Dictionary(uniqueKeysWithValues: found.map { ($0.key.dropFirst(stem.count + 1), $0.value) })
            if contents != Dictionary(uniqueKeysWithValues: expected.map { (Substring($0.key), $0.value) }) {
                problems.append("what '\(drop.name)' became in configuration \(config.tag) is not whole")
            }
            let original = places[drop.name] ?? []
            if isSettled, original != ["processed"] {
                problems.append("'\(drop.name)' was published, and is in \(original.joined(separator: ", "))")
            }
        }
    }

    private mutating func expect(_ drop: ReloadMill.Drop, of config: ReloadMill.Config) {
        guard drop.inbox != config.inbox else { return }
        problems.append("'\(drop.name)' of inbox \(drop.inbox) was settled by configuration \(config.tag)")
    }

    private static func line(_ content: [UInt8], _ name: String, _ algorithm: DigestAlgorithm) -> [UInt8] {
        do {
            var context = try DigestContext.start(algorithm)
            try content.withUnsafeBytes { try context.update($0) }
            return Array("\(try context.finish().hex)  \(name)\n".utf8)
        } catch {
            return []
        }
    }
}

extension ReloadMill {
    /// Drops that have not ended in exactly one job that was processed.
    func unsettledJobs(_ state: FilePath) throws -> [String] {
        let journal = try SQLiteJournal.open(reading: state)
        defer { journal.close() }
        let jobs = Dictionary(grouping: try journal.jobs(JobQuery()), by: \.drop.name.text)
        return drops.keys.compactMap { name in
            let states = (jobs[name] ?? []).map(\.state)
            return states == [.processed] ? nil : "the journal says of '\(name)': \(states)"
        }
    }
}
