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
        case taken([PipelineChange])
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
        /// The files that are in force.
        var loaded: PipelineFiles
        var last: Last?
    }

    private let paths: [FilePath]
    private let settings: SettingsPlace
    private let loader: PipelineLoader
    private let report: @Sendable (EngineEvent) -> Void
    private let service: ServiceNotifier?
    private let state: Mutex<State>
    private let queue = DispatchQueue(label: "dropmill.reload")

    /// For a daemon that starts with what was read of these files, and of those in these folders.
    init(
        _ paths: [FilePath], settings: SettingsPlace, loader: PipelineLoader, loaded: PipelineFiles,
        service: ServiceNotifier? = nil,
        report: @escaping @Sendable (EngineEvent) -> Void
    ) {
        (self.paths, self.settings, self.loader) = (paths, settings, loader)
        (self.service, self.report) = (service, report)
        state = Mutex(State(loaded: loaded))
    }

    /// The daemon has started: what was asked for meanwhile is done now.
    func begin(_ apply: @escaping Apply) {
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

    /// How the files differ from what is in force. Reads them, so it may block.
    func differences() -> [(file: FilePath, difference: PipelineFiles.Difference)] {
        read().differences(from: state.withLock { $0.loaded })
    }

    private func read() -> PipelineFiles { PipelineLoader.read(paths, settings: settings) }

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
        let files = read()
        let outcome = take(files, apply)
        let isStopping = state.withLock { state in
            if case .stopping = state.phase { return true }
            if case .taken = outcome { state.loaded = files }
            state.last = Last(time: .now(), outcome: outcome)
            return false
        }
        if case .refused(let problems) = outcome, !isStopping {
            let reasons = problems.joined(separator: "; ")
            report(.warning(pipeline: nil, message: "the reload is refused, and nothing is changed: \(reasons)"))
        }
        return outcome
    }

    private func take(_ files: PipelineFiles, _ apply: Apply) -> Outcome {
        do throws(ConfigProblems) {
            let (pipelines, settings) = (try loader.load(files), try loader.settings(of: files))
            do throws(EngineError) { return .taken(try apply(pipelines, settings)) } catch {
                return .refused([error.message])
            }
        } catch {
            return .refused(error.all.map(\.description))
        }
    }
}
