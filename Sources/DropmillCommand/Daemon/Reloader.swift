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
        /// `settings`: the keys that have changed; `warnings`: what a person should see to.
        case taken([PipelineChange], settings: [String] = [], warnings: [String] = [])
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
    typealias Awaiting = @Sendable ([PipelineReading.Silence]) -> Void
    /// Puts pipelines and settings in force; of these the names of those that have changed.
    typealias Apply = @Sendable ([Pipeline], ServiceSettings, [String]) throws(EngineError) -> Reloaded

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
        /// When what is in force was.
        var takenAt = Timestamp.now()
        /// Where the folders of what is in force were found.
        var known = KnownFolders()
        /// Those whose folders did not answer at the start, which begin as soon as they do.
        var silent: [PipelineReading.Silence]
    }

    /// How many seconds a reload waits for the files to be read and checked.
    static let patience = 20.0

    /// What it was started with.
    let paths: [FilePath]
    let place: SettingsPlace
    let loader: PipelineLoader
    private let report: @Sendable (EngineEvent) -> Void
    private let service: ServiceNotifier?
    private let state: Mutex<State>
    let queue = DispatchQueue(label: "dropmill.reload")
    let lookout: Lookout
    private let patience: Double
    private let retry: Duration?
    private let awaiting: Awaiting
    private let heard: @Sendable (Outcome) -> Void

    /// For a daemon that starts with what was read of these files. `patience`: how many seconds a reload waits for them
    /// to be read; `retry`: how often folders are looked at that did not
    /// answer at the start, if at all; `awaiting`: told which of its pipelines have not begun yet, when that changes;
    /// `heard`: told what became of each reload.
    init(
        _ paths: [FilePath], settings place: SettingsPlace, loader: PipelineLoader, loaded: PipelineReading,
        _ settings: ServiceSettings, _ lookout: Lookout, service: ServiceNotifier? = nil, patience: Double = patience,
        retry: Duration? = .seconds(10), awaiting: @escaping Awaiting = { @Sendable _ in },
        heard: @escaping @Sendable (Outcome) -> Void = { @Sendable _ in },
        report: @escaping @Sendable (EngineEvent) -> Void
    ) {
        (self.paths, self.place, self.loader, self.lookout) = (paths, place, loader, lookout)
        (self.service, self.patience, self.retry) = (service, patience, retry)
        (self.awaiting, self.heard, self.report) = (awaiting, heard, report)
        state = Mutex(State(loaded: loaded.files, settings: settings, silent: loaded.silent))
    }

    /// The daemon has started with these pipelines: what was asked for meanwhile is done now.
    func begin(with pipelines: [Pipeline], _ apply: @escaping Apply) {
        state.withLock { state in
            if case .starting = state.phase { state.phase = .running(apply) }
        }
        queue.async { @Sendable in
            self.note(pipelines)
            self.run()
            self.addSilent()
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
    /// When the configuration that is in force was loaded.
    var takenAt: Timestamp { state.withLock { $0.takenAt } }

    /// The files in force, and since when they are.
    var inForce: (PipelineFiles, since: Timestamp) { state.withLock { ($0.loaded, $0.takenAt) } }

    /// Those that have not begun, since their folders do not answer.
    var silent: [PipelineReading.Silence] { state.withLock { $0.silent } }

    /// What is in force, and how the files differ from it, as far as they answer. Reads them, so it blocks.
    func differences() -> (
        loaded: PipelineFiles, differences: [(file: FilePath, difference: PipelineFiles.Difference)]
    ) {
        let loaded = state.withLock { $0.loaded }
        let read = lookout.attempt(until: .now() + Self.patienceWithAsking) { @Sendable [self] mayLook in
            self.read(mayLook)
        }
        switch read {
        case .over(let files): return (loaded, files.differences(from: loaded))
        case .silent(let place):
            let file = place ?? paths.first ?? FilePath()
            return (loaded, [(file, .gone("'\(file.text)' does not answer"))])
        }
    }

    /// How many seconds one look may take: to answer a question about the files, and to try silent folders again.
    static let patienceWithAsking = 3.0

    private func read(_ mayLook: Lookout.Permit) -> PipelineFiles {
        PipelineLoader.read(paths, settings: place, mayLook)
    }

    /// Adds pipelines that the start left out, as they were read then, once their folders answer.
    private func addSilent() {
        let (phase, files, settings, known, silent) = state.withLock {
            ($0.phase, $0.loaded, $0.settings, $0.known, $0.silent)
        }
        guard let retry, case .running(let apply) = phase, !silent.isEmpty else { return }
        defer { queue.after(retry) { @Sendable [weak self] in self?.addSilent() } }
        let reading: PipelineReading
        do throws(PipelineReading.Unanswered) {
            reading = try PipelineReading(files, known, by: loader, lookout, patience: Self.patienceWithAsking)
        } catch {
            return
        }
        guard reading.silent.count < silent.count else { return }
        let outcome = take(.over((files, reading.pipelines.map { ($0, settings) })), apply)
        guard !state.withLock({ if case .stopping = $0.phase { true } else { false } }) else { return }
        switch outcome {
        case .taken:
            state.withLock { $0.silent = reading.silent }
            awaiting(reading.silent)
            if case .success(let pipelines) = reading.pipelines { note(pipelines) }
        case .refused(let problems):
            // It is tried again, and told once.
            let reason = problems.joined(separator: "; ")
            let hindered = silent.filter { left in
                left.reason != reason && !reading.silent.contains { $0.file == left.file }
            }
            state.withLock { state in
                for index in state.silent.indices where hindered.contains(state.silent[index]) {
                    state.silent[index].reason = reason
                }
            }
            for left in hindered {
                report(.warning(pipeline: nil, message: "\(left.file.text) is not started: \(reason)"))
            }
        case .stopping: break
        }
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
                (state.loaded, state.settings, state.silent) = (read.files, config.settings, [])
                taken = config.pipelines
            }
            let now = Timestamp.now()
            state.last = Last(time: now, outcome: outcome)
            if case .taken = outcome { state.takenAt = now }
            return false
        }
        if taken != nil { awaiting([]) }
        heard(outcome)
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
                let reloaded = try apply(config.pipelines, config.settings, settings)
                return .taken(reloaded.changes, settings: settings, warnings: reloaded.warnings)
            } catch {
                return .refused([error.message])
            }
        case .over((_, .failure(let problems))): return .refused(problems.all.map(\.description))
        case .silent(let place): return .refused([PipelineReading.Unanswered(place, within: patience).message])
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
