import Digests
import Files
import Glibc
import PipelineKit
import SystemPackage
import TestSupport

/// Pipelines whose files change while a daemon runs them. What a stage makes tells which configuration it was of: each
/// publishes into a folder of its own, with digests of its own kind.
struct ReloadMill {
    /// One version of one pipeline.
    struct Config {
        /// The number of its inbox, which all of its versions and names have.
        let inbox: Int
        var name: String
        /// Its own, and its output folder's.
        var tag: Int
        var hasStrongDigests = false
        /// Stages before the others.
        var first: [String] = []
        var rules: [String] = []
        var unpacks = false

        var algorithm: DigestAlgorithm { hasStrongDigests ? .sha512 : .sha256 }
        private var digests: String { hasStrongDigests ? "sha512" : "sha256" }
        /// Of the file beside a published one, and the list in a published folder.
        var sidecar: String { ".\(digests)" }
        static let manifest = "DIGESTS"

        func text(below root: FilePath) -> String {
            let target = root.pushing(FilePath("output/c\(tag)")).string + (unpacks ? "/{stem}" : "")
            let stages = [
                "checksum: { algorithm: \(digests)\(unpacks ? ", manifest: \(Self.manifest)" : "") }",
                "move: { to: \"\(target)\" }",
            ]
            let lines =
                [
                    "name: \(name)", "inbox: \(root.appending("in-\(inbox)").string)",
                    "processed: \(root.appending("processed").string)", "failed: \(root.appending("failed").string)",
                    "ready: { quiet: 10ms }", "retry: { attempts: 100 }",
                ] + rules + ["stages:"] + (first + (unpacks ? ["unpack"] : []) + stages).map { "  - \($0)" }
            return lines.map { $0 + "\n" }.joined()
        }
    }

    /// Something that was dropped.
    struct Drop {
        let name: String
        let inbox: Int
        let content: [UInt8]
        /// What is in it, where it is an archive.
        var members: [String: [UInt8]] = [:]

        var stem: String { String(name.prefix { $0 != "." }) }

        /// `name` is unique.
        init(_ name: String, to inbox: Int, size: Int = 100, isArchive: Bool = false) {
            (self.name, self.inbox) = (isArchive ? "\(name).zip" : "\(name).txt", inbox)
            guard isArchive else {
                content = Mill.content(name, size: size)
                return
            }
            var zip = ZipBuilder()
            for member in ["one", "folder/two"] {
                members[member] = Mill.content("\(name)/\(member)", size: size)
                zip.add(Array(member.utf8), content: members[member] ?? [])
            }
            content = zip.finished
        }
    }

    let root: FilePath
    var pipelines: FilePath { root.appending("pipelines") }
    private var state: FilePath { root.appending("state") }
    private(set) var drops: [String: Drop] = [:]

    /// With so many inboxes.
    init(at root: FilePath, inboxes: Int) throws {
        self.root = root
        for name in (1...inboxes).map({ "in-\($0)" }) + ["processed", "failed", "output", "pipelines", "outside"] {
            try Folder.make(root.appending(name))
        }
    }

    func file(_ config: Config) -> FilePath { pipelines.appending("\(config.inbox).yaml") }

    func write(_ config: Config) throws { try write(config.text(below: root), to: file(config)) }

    /// As an editor does: the file is there whole at once.
    func write(_ text: String, to file: FilePath) throws {
        let new = root.pushing("outside/new.yaml")
        let output = try OpenFile.open(new, O_WRONLY | O_CREAT | O_TRUNC, mode: 0o644)
        try output.write(Array(text.utf8))
        try output.close()
        if Folder.kind(of: file) == .folder { try Folder.remove(file) }
        try Self.rename(new, file)
    }

    // MARK: Dropping

    mutating func note(_ drop: Drop) { drops[drop.name] = drop }

    /// Drops it, whole at once.
    func put(_ drop: Drop) throws {
        let outside = root.appending("outside").appending(drop.name)
        let file = try OpenFile.open(outside, O_WRONLY | O_CREAT | O_TRUNC, mode: 0o644)
        try file.write(drop.content)
        try file.close()
        try Self.rename(outside, root.appending("in-\(drop.inbox)").appending(drop.name))
    }

    private static func rename(_ old: FilePath, _ new: FilePath) throws(IOError) {
        let renamed = old.withPlatformString { from in new.withPlatformString { Glibc.rename(from, $0) } }
        guard renamed == 0 else { throw IOError("rename", new, .last) }
    }

    // MARK: Running

    /// Starts the daemon; `once`: until all is settled.
    func start(_ log: FilePath, once: Bool = false, wrapper: [String] = []) throws -> DropmillProcess {
        try DropmillProcess(
            ["run", pipelines.string, "--state-dir", state.string, "--log-format", "json"] + (once ? ["--once"] : []),
            in: root.removingLastComponent(), log: log, wrapper: wrapper)
    }

    /// Settles all that the loaded pipelines have; the problem, if that does not work.
    func settle(_ log: FilePath) throws -> [String] {
        var run = try start(log, once: true, wrapper: ["/usr/bin/timeout", "-s", "TERM", "-k", "5", "120"])
        let status = try run.wait()
        return status <= 1 ? [] : ["settling: exit status \(status): \(run.transcript)"]
    }

    func reload() throws -> Tool.Output {
        try Tool(DropmillProcess.binary).run(["reload", "--state-dir", state.string])
    }

    var isListening: Bool { Folder.kind(of: state.appending("control.sock")) != nil }

    /// Whether nothing is left in an inbox.
    func isEmpty(inbox: Int) throws -> Bool {
        try Folder.names(in: root.appending("in-\(inbox)")).isEmpty
    }

    // MARK: Judging

    /// All that is wrong. `loaded`: the configurations that were in force at any time, by their tags; nothing may have
    /// been settled by any other.
    func violations(of loaded: [Int: Config], isSettled: Bool) throws -> [String] {
        var check = ReloadCheck(drops: drops, loaded: loaded, isSettled: isSettled)
        try check.look(at: root)
        check.judge()
        if isSettled { check.problems += try unsettledJobs(state) }
        return check.problems
    }
}
