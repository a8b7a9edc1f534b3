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
        /// The daemon is about to end.
        case stopping
    }

    /// The last one that ended.
    struct Last: Sendable, Equatable {
        let time: Timestamp
        let outcome: Outcome
    }

    typealias Done = @Sendable (Outcome) -> Void
    /// Puts pipelines and settings in force; of these the names of those that have changed.
    typealias Apply = @Sendable ([Pipeline], ServiceSettings, [String]) throws(EngineError) -> [PipelineChange]

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
        /// Where the folders of what is in force were found.
        var known = KnownFolders()
    }

    /// What it was started with.
    let paths: [FilePath]
    let place: SettingsPlace
    private let loader: PipelineLoader
    private let report: @Sendable (EngineEvent) -> Void
    private let service: ServiceNotifier?
    private let state: Mutex<State>
    let queue = DispatchQueue(label: "dropmill.reload")
    private let lookout = Lookout(label: "dropmill.reload.reading")
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
        state.withLock { state in
            if case .starting = state.phase { state.phase = .running(apply) }
        }
        queue.async { @Sendable in
            self.note(pipelines)
            self.run()
        }
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

    private func read(_ mayLook: Lookout.Permit = .always) -> PipelineFiles {
        PipelineLoader.read(paths, settings: place, mayLook)
    }

    private func run() {
        let (phase, callers) = state.withLock { state in
            if case .starting = state.phase { return (state.phase, [Done]()) }
            defer { state.callers = [] }
            return (state.phase, state.callers)
        }
        guard !callers.isEmpty else { return }
        var outcome = Outcome.stopping
        var taken: [Pipeline]?
        if case .running(let apply) = phase { (outcome, taken) = reload(apply) }
        for done in callers { done(outcome) }
        if let taken { note(taken) }
    }

    private func reload(_ apply: Apply) -> (Outcome, [Pipeline]?) {
        service?.reloading()
        defer { service?.reloaded() }
        let read = readInTime()
        let outcome = take(read, apply)
        var taken: [Pipeline]?
        let isStopping = state.withLock { state in
            if case .stopping = state.phase { return true }
            if case .taken = outcome, case .over(let read) = read, case .success(let config) = read.config {
                (state.loaded, state.settings) = (read.files, config.settings)
                taken = config.pipelines
            }
            state.last = Last(time: .now(), outcome: outcome)
            return false
        }
        if case .refused(let problems) = outcome {
            guard !isStopping else { return (.stopping, nil) }
            let reasons = problems.joined(separator: "; ")
            report(.warning(pipeline: nil, message: "the reload is refused, and nothing is changed: \(reasons)"))
        }
        return (outcome, taken)
    }

    private func take(_ read: Lookout.Outcome<Reading.Value>, _ apply: Apply) -> Outcome {
        switch read {
        case .over((_, .success(let config))):
            do throws(EngineError) {
                let settings = config.settings.changes(from: state.withLock { $0.settings })
                return .taken(try apply(config.pipelines, config.settings, settings), settings: settings)
            } catch {
                return .refused([error.message])
            }
        case .over((_, .failure(let problems))): return .refused(problems.all.map(\.description))
        case .silent(let place):
            let why = place.map { ": '\($0.text)' does not answer; mount its file system again, or do without it" }
            return .refused([
                "the pipeline files were not read and checked within \(Duration.seconds(patience).text)\(why ?? "")"
            ])
        }
    }

    /// Finds out where the folders of what is in force are, as long as they answer.
    private func note(_ pipelines: [Pipeline]) {
        let before = state.withLock { $0.known }
        let found = lookout.attempt(until: .now() + patience) { mayLook in
            var known = before
            known.note(pipelines, mayLook)
            return known
        }
        if case .over(let known) = found { state.withLock { $0.known = known } }
    }

    /// Reads the files, and checks them.
    private func readInTime() -> Lookout.Outcome<Reading.Value> {
        let known = state.withLock { $0.known }
        return lookout.attempt(until: .now() + patience) { @Sendable [self] mayLook in
            let files = read(mayLook)
            let config = Result { () throws(ConfigProblems) in
                (pipelines: try loader.load(files, known, mayLook), settings: try loader.settings(of: files))
            }
            return (files, config)
        }
    }
}

/// What becomes of reading the files.
private enum Reading {
    typealias Config = (pipelines: [Pipeline], settings: ServiceSettings)
    typealias Value = (files: PipelineFiles, config: Result<Config, ConfigProblems>)
}
