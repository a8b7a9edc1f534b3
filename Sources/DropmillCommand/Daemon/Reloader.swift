@preconcurrency import Dispatch
import Files
import PipelineConfig
import PipelineEngine
import PipelineKit
import Synchronization
import SystemPackage

/// Reads the pipeline files of a running daemon again and has its engine take them, as a whole or not at all; one
/// reload at a time, on a queue of its own.
final class Reloader: Sendable {
    /// What became of a reload.
    enum Outcome: Sendable, Equatable {
        /// `settings`: the keys that have changed.
        case taken([PipelineChange], settings: [String] = [])
        /// Nothing was changed, for these reasons.
        case refused([String])
    }

    /// The last one that ended.
    struct Last: Sendable, Equatable {
        let time: Timestamp
        let outcome: Outcome
    }

    typealias Done = @Sendable (Outcome) -> Void
    typealias Apply = @Sendable ([Pipeline], ServiceSettings) throws(EngineError) -> [PipelineChange]

    private enum Phase: Sendable {
        /// What is asked for is done after it.
        case starting
        case running(Apply)
        case stopping
    }

    private struct State: Sendable {
        var phase = Phase.starting
        /// Who waits for a reload that has not read the files yet.
        var callers: [Done] = []
        /// The files that are in force, and what they set.
        var loaded: PipelineFiles
        var settings: ServiceSettings
        var last: Last?
    }

    /// What it was started with.
    let paths: [FilePath]
    let place: SettingsPlace
    private let loader: PipelineLoader
    private let report: @Sendable (EngineEvent) -> Void
    private let service: ServiceNotifier?
    private let state: Mutex<State>
    private let queue = DispatchQueue(label: "dropmill.reload")
    /// A file system that does not answer holds this queue up, and not those who wait for a reload.
    let reading = DispatchQueue(label: "dropmill.reload.reading")
    /// Of that queue.
    private let known = Mutex(KnownFolders())
    private let patience: Double

    /// For a daemon that starts with what was read of these files, and of those in these folders. `patience`: how many
    /// seconds a reload waits for them to be read.
    init(
        _ paths: [FilePath], settings place: SettingsPlace, loader: PipelineLoader, loaded: PipelineFiles,
        _ settings: ServiceSettings, service: ServiceNotifier? = nil, patience: Double = 20,
        report: @escaping @Sendable (EngineEvent) -> Void
    ) {
        (self.paths, self.place, self.loader) = (paths, place, loader)
        (self.service, self.patience, self.report) = (service, patience, report)
        state = Mutex(State(loaded: loaded, settings: settings))
    }

    /// The daemon has started with these pipelines: what was asked for meanwhile is done now.
    func begin(with pipelines: [Pipeline], _ apply: @escaping Apply) {
        note(pipelines)
        state.withLock { state in
            if case .starting = state.phase { state.phase = .running(apply) }
        }
        queue.async { @Sendable in self.run() }
    }

    /// The daemon stops: nothing is reloaded any more.
    func end() {
        state.withLock { $0.phase = .stopping }
        queue.async { @Sendable in self.run() }
    }

    /// Asks for a reload that reads the files after this. `done` is called on the queue once it is in force, or
    /// refused; callers that wait together are answered by one.
    func ask(_ done: @escaping Done = { @Sendable _ in }) {
        state.withLock { $0.callers.append(done) }
        queue.async { @Sendable in self.run() }
    }

    /// What the last one came to; nil where there was none.
    var last: Last? { state.withLock { $0.last } }

    /// What is in force, and how the files differ from it. Reads them, so it may block.
    func differences() -> (
        loaded: PipelineFiles, differences: [(file: FilePath, difference: PipelineFiles.Difference)]
    ) {
        let loaded = state.withLock { $0.loaded }
        return (loaded, read().differences(from: loaded))
    }

    private func read() -> PipelineFiles { PipelineLoader.read(paths, settings: place) }

    private func run() {
        let (phase, callers) = state.withLock { state in
            if case .starting = state.phase { return (state.phase, [Done]()) }
            defer { state.callers = [] }
            return (state.phase, state.callers)
        }
        guard !callers.isEmpty else { return }
        var outcome = Outcome.refused(["the daemon is stopping"])
        if case .running(let apply) = phase { outcome = reload(apply) }
        for done in callers { done(outcome) }
    }

    private func reload(_ apply: Apply) -> Outcome {
        service?.reloading()
        defer { service?.reloaded() }
        let read = readInTime()
        let outcome = take(read?.config, apply)
        let isStopping = state.withLock { state in
            if case .stopping = state.phase { return true }
            if case .taken = outcome, let read, case .success(let config) = read.config {
                (state.loaded, state.settings) = (read.files, config.settings)
            }
            state.last = Last(time: .now(), outcome: outcome)
            return false
        }
        if case .refused(let problems) = outcome, !isStopping {
            let reasons = problems.joined(separator: "; ")
            report(.warning(pipeline: nil, message: "the reload is refused, and nothing is changed: \(reasons)"))
        }
        return outcome
    }

    private func take(_ config: Result<Reading.Config, ConfigProblems>?, _ apply: Apply) -> Outcome {
        switch config {
        case .success(let config):
            do throws(EngineError) {
                let changes = try apply(config.pipelines, config.settings)
                note(config.pipelines)
                return .taken(changes, settings: config.settings.changes(from: state.withLock { $0.settings }))
            } catch {
                return .refused([error.message])
            }
        case .failure(let problems): return .refused(problems.all.map(\.description))
        case nil:
            let time = Duration.seconds(patience).text
            return .refused([
                "the pipeline files were not read and checked within \(time): a file system that one of them, or a "
                    + "folder named in it, is on does not answer; mount it again, or remove the file"
            ])
        }
    }

    private func note(_ pipelines: [Pipeline]) {
        reading.async { @Sendable [self] in known.withLock { $0.note(pipelines) } }
    }

    /// Reads the files, and checks them; nil where that takes too long.
    private func readInTime() -> Reading.Value? {
        let result = Attempt<Reading.Value>()
        reading.async { @Sendable [self] in
            let files = read()
            let known = known.withLock { $0 }
            let config = Result { () throws(ConfigProblems) in
                (pipelines: try loader.load(files, known), settings: try loader.settings(of: files))
            }
            result.end(with: (files, config))
        }
        return result.wait(for: patience)
    }
}

/// What becomes of reading the files.
private enum Reading {
    typealias Config = (pipelines: [Pipeline], settings: ServiceSettings)
    typealias Value = (files: PipelineFiles, config: Result<Config, ConfigProblems>)
}
