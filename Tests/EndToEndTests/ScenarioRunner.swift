import Files
import Glibc
import PipelineKit
import SystemPackage
import TestSupport

/// Executes a scenario in a folder of its own: `pipelines`, `inbox`, `processed`, `failed` and `output` lie in it.
struct ScenarioRunner {
    let scratch: ScratchFolder
    /// The program that runs in the background.
    var daemon: DropmillProcess?
    /// How the last one ended.
    var lastStatus: Int32?
    private var logs: [FilePath] = []

    /// The folders that `expect tree:` lists.
    static let folders = ["failed", "inbox", "output", "processed"]
    /// The repository's samples.
    static let samples = FilePath(#filePath).removingLastComponent().removingLastComponent().removingLastComponent()
        .appending("samples")
    /// What nothing may take longer than.
    static let patience: Duration = .seconds(30)

    init() throws {
        scratch = try ScratchFolder()
        for folder in Self.folders + ["pipelines"] { try scratch.makeFolder(folder) }
    }

    /// Runs every step; throws at the first that fails, with its line, the log and the tree.
    mutating func run(_ scenario: Scenario) async throws {
        do {
            for step in scenario.steps {
                do {
                    try await perform(step.action)
                } catch {
                    throw ScenarioFailure(line: step.line, reason: "\(error)", log: text(), tree: try paths())
                }
            }
            try daemon?.end()
        } catch {
            try daemon?.end()
            throw error
        }
    }

    private mutating func perform(_ action: Scenario.Action) async throws {
        switch action {
        case .pipeline(let name, let yaml): try writePipeline(name, yaml)
        case .dropSample(let sample, let name):
            let bytes = try ScratchFolder.read(Self.samples.appending(sample))
            try scratch.write(bytes, to: try inbox(name ?? Array(sample.utf8)))
        case .drop(let name, let contents): try scratch.write(contents, to: try inbox(name))
        case .renameIn(let name, let contents): try renameIn(name, contents)
        case .slowly(let name, let pieces, let piece, let interval, let reopened):
            let writer = SlowWriter(try inbox(name), pieces: pieces, of: piece, reopened: reopened)
            try await writer.write(every: interval)
        case .link(let name, let target):
            let path = try inbox(name)
            guard FilePath(bytes: target).withPlatformString({ to in path.withPlatformString { symlink(to, $0) } }) == 0
            else { throw IOError("link", path, .last) }
        case .write(let path, let contents):
            try scratch.write(contents, to: scratch.path.pushing(FilePath(bytes: path)))
        case .run(.once): try await runToEnd(["run", "--once", "pipelines"] + Self.runArguments)
        case .run(.check): try await runToEnd(["check", "pipelines"])
        case .look(let arguments): try await runToEnd(arguments + ["--state-dir", "state"])
        case .startDaemon: try await startDaemon()
        case .stopDaemon: try await stopDaemon()
        default: try await expect(action)
        }
    }

    // MARK: Dropping

    private func inbox(_ name: [UInt8]) throws -> FilePath {
        guard let name = FileName(name) else { throw ScenarioMismatch("'\(EscapedText.of(name))' is no file name") }
        return scratch.path("inbox").appending(name)
    }

    /// The three folders that every pipeline needs, unless the scenario names them itself.
    private func writePipeline(_ name: String, _ yaml: [String]) throws {
        let folders = ["inbox", "processed", "failed"].filter { key in !yaml.contains { $0.hasPrefix(key + ":") } }
        let lines = folders.map { "\($0): ../\($0)" } + yaml
        try scratch.write(lines.map { $0 + "\n" }.joined(), to: "pipelines/\(name).yaml")
    }

    private func renameIn(_ name: [UInt8], _ contents: [UInt8]) throws {
        let source = try scratch.write(contents, to: scratch.path("outside"))
        let target = try inbox(name)
        guard source.withPlatformString({ from in target.withPlatformString { Glibc.rename(from, $0) } }) == 0 else {
            throw IOError("rename", target, .last)
        }
    }

    // MARK: Running

    private mutating func start(_ arguments: [String]) throws -> DropmillProcess {
        let log = scratch.path("log.\(logs.count)")
        logs.append(log)
        return try DropmillProcess(arguments, in: scratch.path, log: log)
    }

    private static let runArguments = ["--state", "state", "--log-format", "json", "--log-level", "debug"]

    private mutating func runToEnd(_ arguments: [String]) async throws {
        var process = try start(arguments)
        let ended = try await eventually(within: Self.patience) { try process.hasEnded() }
        try process.end()
        guard ended else { throw ScenarioMismatch("the program does not end") }
        lastStatus = process.status
    }

    private mutating func startDaemon() async throws {
        var process = try start(["run", "pipelines"] + Self.runArguments)
        let logged = logs.count - 1
        let log = self
        let ready = try await eventually(within: Self.patience) {
            try log.hasLog("started", "", from: logged) || process.hasEnded()
        }
        let ended = try process.hasEnded()
        daemon = process
        guard ready, !ended else { throw ScenarioMismatch("the daemon does not start") }
    }

    private mutating func stopDaemon() async throws {
        guard var process = daemon else { throw ScenarioMismatch("no daemon is running") }
        try process.send(SIGTERM)
        let ended = try await eventually(within: Self.patience) { try process.hasEnded() }
        try process.end()
        daemon = nil
        lastStatus = process.status
        guard ended else { throw ScenarioMismatch("the daemon does not stop") }
    }

    // MARK: What can be seen

    /// All that the programs have written.
    func text(from first: Int = 0) -> String {
        logs.dropFirst(first).map { log in
            do { return String(decoding: try ScratchFolder.read(log), as: UTF8.self) } catch { return "\(error)\n" }
        }.joined()
    }

    /// Whether there is a log line of the event that holds the text.
    func hasLog(_ event: String, _ text: String, from first: Int = 0) throws -> Bool {
        self.text(from: first).split(separator: "\n").contains {
            $0.contains("\"event\":\"\(event)\"") && (text.isEmpty || $0.contains(text))
        }
    }

    /// Everything in the folders, escaped; folders with `/` behind, links without their targets.
    func paths() throws -> [String] {
        try Self.folders.flatMap { folder in
            let tree = try FileTree.list(scratch.path(folder))
            let entries =
                tree.files.map { EscapedText.of($0.bytes) } + tree.folders.map { $0.text + "/" }
                + tree.links.map(\.text)
            return ["\(folder)/"] + entries.filter { !Self.isWork($0) }.map { "\(folder)/\($0)" }
        }.sorted()
    }

    /// The work folder lies inside an inbox that is a mount point; it is nobody's result.
    private static func isWork(_ path: String) -> Bool { path.hasPrefix(".dropmill") }
}

/// What was expected and is not so.
struct ScenarioMismatch: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// A step that failed, with what is needed to understand it.
struct ScenarioFailure: Error, CustomStringConvertible {
    let line: Int
    let reason: String
    let log: String
    let tree: [String]

    var description: String {
        "line \(line): \(reason)\n--- tree\n\(tree.joined(separator: "\n"))\n--- log\n\(log.suffix(8000))"
    }
}
