import Files
import Journal
import PipelineKit
import SQLiteJournal
import SystemPackage
import TestSupport

/// Originals that are to go: of files, some with a file beside them, in folders that were made for them, and of two
/// folders. What others have put among them is to stay.
struct PruneMill {
    private struct Original {
        let job: JobID
        let folder: KeptFolder
        let path: FilePath
        /// What is in it, by its path in there, and of what lies beside it.
        let content: [String: [UInt8]]
        let side: [UInt8]?

        var sidePath: FilePath { FilePath(path.string + ".sha256") }
    }

    enum Moment {
        /// Something came between.
        case interrupted
        /// All that is to go has gone.
        case over
    }

    private static let files = 18, folders = 2
    let site: Site
    private var originals: [Original] = []
    private var foreign: [FilePath: [UInt8]] = [:]
    var mill: Mill { site.mill }
    private var done: FilePath { mill.root.appending("done") }

    /// Has all of it processed, and then says that nothing is to be kept.
    init(on given: Site? = nil) throws {
        site = try given ?? Site.plain()
        try define(keep: "")
        for number in 1...Self.files {
            let name = "\(number).\(["txt", "sum", "dat"][number % 3])"
            try mill.write(Mill.content(name), to: mill.layout.inbox.appending(name))
        }
        for number in 1...Self.folders {
            let folder = mill.root.appending("folders").appending("\(number)")
            try Folder.make(folder.appending("inner"))
            for name in ["one", "inner/two"] as [FilePath] {
                try mill.write(Mill.content("\(number) \(name)"), to: folder.pushing(name))
            }
        }
        let run = try mill.runOnce()
        guard run.status == 0 else { throw Problem("the first run: \(run.log.suffix(500))") }
        originals = try reading { journal in
            try journal.jobs(JobQuery()).compactMap { record in
                guard let path = record.original, let content = try content(of: path) else { return nil }
                let root = record.pipeline == "all" ? mill.layout.processed : done
                let side = try self.content(of: FilePath(path.string + ".sha256"))?[""]
                return Original(
                    job: record.id, folder: KeptFolder(record.pipeline, .processed, root), path: path, content: content,
                    side: side)
            }
        }
        guard originals.count == Self.files + Self.folders, originals.count(where: { $0.side != nil }) == Self.files / 3
        else { throw Problem("\(originals.count) originals, \(originals.count { $0.side != nil }) sides") }
        let texts = originals.first { $0.path.string.hasSuffix(".txt") }?.path.removingLastComponent()
        for path in [texts?.appending("1.txt.sha256"), mill.layout.processed.appending("theirs"), done.appending("3")] {
            guard let path else { continue }
            foreign[path] = Mill.content(path.string)
            try mill.write(Mill.content(path.string), to: path)
        }
        try define(keep: "keep: { processed: { age: 1ms } }")
    }

    struct Problem: Error, CustomStringConvertible {
        let description: String
        init(_ description: String) { self.description = description }
    }

    private func define(keep: String) throws {
        let (root, processed) = (mill.root.string, mill.layout.processed.string)
        for (name, lines) in [
            ("all", ["inbox: \(root)/inbox", "processed: \(processed)/{date:%Y}/{ext}", "ready: { quiet: 10ms }"]),
            (
                "folders",
                ["inbox: \(root)/folders", "processed: \(done.string)", "ready: { quiet: 10ms, unit: folder }"]
            ),
        ] {
            let stages = name == "all" ? "[checksum: { when: '*.sum' }]" : "[run: { command: ['true'] }]"
            let all = ["name: \(name)", "min_free: 0"] + lines + ["failed: \(root)/failed", "stages: \(stages)"]
            let text = (all + [keep]).joined(separator: "\n") + "\n"
            try mill.write(Array(text.utf8), to: mill.root.appending("pipelines").appending("\(name).yaml"))
        }
    }

    /// Calls on anything in the folders from which something is to go.
    func fault(_ calls: [String]) -> Faultline {
        var fault = mill.fault(calls)
        fault.path = "@(\(mill.layout.processed.string)|\(done.string))*"
        return fault
    }

    /// What is wrong now.
    func violations(at moment: Moment) throws -> [String] {
        var problems: [String] = []
        func expect(_ isRight: Bool, _ problem: @autoclosure () -> String) {
            if !isRight { problems.append(problem()) }
        }
        try reading { journal in
            for (root, rest) in [(mill.layout.processed, 2), (done, 0)] {
                let folder = KeptFolder(root == done ? "folders" : "all", .processed, root)
                let leaving = Set(try journal.leaving(folder).map(\.job))
                let hidden = try Folder.names(in: root).filter { $0.text.hasPrefix(".dropmill-kept-") }.map(
                    root.appending)
                for original in originals where original.folder == folder {
                    let name = original.path.lastName?.text ?? ""
                    let story = try journal.job(original.job)?.history.map(\.event) ?? []
                    let pruned = story.count { $0 == Transition.pruned }
                    let there = try content(of: original.path)
                    let side = try content(of: original.sidePath)?[""]
                    let held = try hidden.compactMap { try content(of: $0.appending(original.job.text)) }
                    expect(held.allSatisfy { $0 == original.content }, "'\(name)' is half in the hidden folder")
                    expect(there == nil || there == original.content, "'\(name)' is half")
                    expect(there == nil || side == original.side, "'\(name)' has lost what lay beside it")
                    expect(there == nil || held.isEmpty, "'\(name)' is there twice")
                    expect(there == nil || pruned == 0, "'\(name)' is there, and is said to be removed")
                    expect(there != nil || pruned > 0 || leaving.contains(original.job), "'\(name)' is gone, untold")
                    expect(
                        !story.contains { [Transition.originalGone, Transition.originalChanged].contains($0) },
                        "\(story)")
                    if moment == .over {
                        expect(there == nil && side == nil && held.isEmpty, "'\(name)' is left")
                        expect(pruned == 1, "'\(name)' is said to be removed \(pruned) times")
                    }
                }
                guard moment == .over else { continue }
                let tree = try FileTree.list(root)
                let made = tree.folders.filter { $0.lastName?.text.hasPrefix(".dropmill-kept-") == false }
                expect(made.count == rest, "folders are left: \(made)")
                expect(tree.files.count == foreign.count { $0.key.starts(with: root) }, "files are left: \(tree.files)")
                expect(hidden.count == 1, "hidden: \(hidden)")
                expect(leaving.isEmpty, "\(leaving.count) are being removed")
                let standing = try journal.standing(of: folder)
                expect(standing.files == 0 && standing.bytes == 0, "\(standing)")
                expect(try journal.madeFolders(in: folder, before: nil, limit: 10).count == rest, "folders are known")
            }
        }
        for (path, bytes) in foreign where try content(of: path)?[""] != bytes {
            problems.append("'\(path.string)' is not as it was")
        }
        return problems
    }

    private func reading<Value>(_ body: (SQLiteJournal) throws -> Value) throws -> Value {
        let journal = try SQLiteJournal.open(reading: mill.state)
        defer { journal.close() }
        return try body(journal)
    }

    /// The files there, by their path in there; nil where there is nothing.
    private func content(of path: FilePath) throws -> [String: [UInt8]]? {
        switch Folder.kind(of: path) {
        case nil: nil
        case .folder:
            Dictionary(
                uniqueKeysWithValues: try FileTree.list(path).files.map {
                    ($0.relative.string, try ScratchFolder.read(path.pushing($0.relative)))
                })
        default: ["": try ScratchFolder.read(path)]
        }
    }
}
