import BuiltinStages
import Dispatch
import Files
import Glibc
import PipelineConfig
import PipelineKit
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import DropmillCommand
@testable import PipelineEngine

/// When a daemon reads its files again, and whom it answers.
@Suite(.timeLimit(.minutes(5))) struct ReloaderTests {
    private let scratch: ScratchFolder
    private let seen = Seen()

    /// What was taken, said and answered.
    private final class Seen: Sendable {
        private let state = Mutex((taken: [[String]](), warnings: [String](), outcomes: [Reloader.Outcome]()))
        var taken: [[String]] { state.withLock { $0.taken } }
        var warnings: [String] { state.withLock { $0.warnings } }
        var outcomes: [Reloader.Outcome] { state.withLock { $0.outcomes } }
        func take(_ names: [String]) { state.withLock { $0.taken.append(names) } }
        func warn(_ text: String) { state.withLock { $0.warnings.append(text) } }
        func answer(_ outcome: Reloader.Outcome) { state.withLock { $0.outcomes.append(outcome) } }
    }

    init() throws {
        scratch = try ScratchFolder()
        try write("a")
    }

    private func write(_ name: String, more: String = "") throws {
        try scratch.write(
            "inbox: \(name)/in\nprocessed: \(name)/done\nfailed: \(name)/failed\nstages: [checksum]\n\(more)",
            to: "pipelines/\(name).yaml")
    }

    private func reloader(patience: Double = 60, startPatience: Double = 60) throws -> Reloader {
        let (paths, loader) = ([scratch.path("pipelines")], PipelineArguments.loader(.builtin))
        let lookout = Lookout(label: "reading")
        return Reloader(
            paths, settings: .beside, loader: loader,
            loaded: try PipelineReading(paths, by: loader, lookout, patience: startPatience), ServiceSettings(),
            lookout,
            patience: patience, retry: .milliseconds(100),
            report: { [seen] event in if case .warning(_, let message) = event { seen.warn(message) } })
    }

    /// Takes what it is given, and says so; `gate` holds up the first one.
    private func apply(_ gate: DispatchSemaphore? = nil) -> Reloader.Apply {
        { [seen] pipelines, _, _ throws(EngineError) in
            seen.take(pipelines.map(\.name))
            if seen.taken.count == 1 { gate?.wait() }
            return Reloaded(changes: [])
        }
    }

    private func ask(_ reloader: Reloader) { reloader.ask { [seen] in seen.answer($0) } }

    @Test("Those that come during a reload are one, which reads the files after them")
    func together() async throws {
        let (reloader, gate) = (try reloader(), DispatchSemaphore(value: 0))
        reloader.begin(with: [], apply(gate))
        ask(reloader)
        #expect(await eventually { seen.taken == [["a"]] })
        for _ in 0..<5 { ask(reloader) }
        try write("b")
        ask(reloader)
        #expect(seen.outcomes.isEmpty)
        gate.signal()
        #expect(await eventually { seen.outcomes.count == 7 })
        #expect(seen.taken == [["a"], ["a", "b"]])
    }

    @Test("One that comes during the start is done after it") func starting() async throws {
        let reloader = try reloader()
        ask(reloader)
        try write("b")
        reloader.begin(with: [], apply())
        #expect(await eventually { seen.outcomes == [.taken([])] })
        #expect(seen.taken == [["a", "b"]])
    }

    @Test("During a stop nothing is read, and nothing said") func stopping() async throws {
        let (reloader, gate) = (try reloader(), DispatchSemaphore(value: 0))
        reloader.begin(with: []) { [gate] _, _, _ throws(EngineError) in
            gate.wait()
            throw EngineError.refused("the daemon is stopping")
        }
        ask(reloader)
        reloader.end()
        ask(reloader)
        gate.signal()
        #expect(await eventually { seen.outcomes.count == 2 })
        #expect(seen.outcomes == [.stopping, .stopping])
        #expect(seen.warnings.isEmpty)
        #expect(reloader.last == nil)
    }

    @Test("One that is refused changes nothing, and says why once") func refused() async throws {
        let reloader = try reloader()
        reloader.begin(with: [], apply())
        try write("b", more: "prority: 1\n")
        try write("c", more: "order: newest\n")
        ask(reloader)
        #expect(await eventually { seen.outcomes.count == 1 })
        guard case .refused(let problems) = seen.outcomes.first else { Issue.record("taken"); return }
        #expect(problems.count == 2)
        #expect(seen.taken.isEmpty)
        #expect(seen.warnings.count == 1)
        #expect(problems.allSatisfy { seen.warnings.first?.contains($0) == true })
        #expect(reloader.last?.outcome == .refused(problems))
    }

    @Test(
        "A file system that does not answer holds up neither who waits nor what comes behind it",
        .enabled(if: SilentMount.isPossible, Comment(rawValue: SilentMount.skip)))
    func silence() async throws {
        let reloader = try reloader(patience: 2)
        reloader.begin(with: [], apply())
        let mount = try SilentMount(at: scratch.path("mount"))
        let file = scratch.path("pipelines/b.yaml")
        try #require(symlink(mount.path.appending("b.yaml").string, file.string) == 0)
        for count in 1...2 {
            ask(reloader)
            #expect(await eventually { seen.outcomes.count == count })
            guard case .refused(let problems) = seen.outcomes.last else { Issue.record("taken"); return }
            #expect(
                problems == [
                    "the pipeline files were not read and checked within 2.0 s: '\(file.text)' does not answer; mount "
                        + "its file system again, or do without it"
                ])
        }
        // Without it all goes on, although the first one has not come back.
        try Folder.remove(file)
        ask(reloader)
        #expect(await eventually { seen.outcomes.count == 3 })
        #expect(seen.outcomes.last == .taken([]))
        #expect(seen.taken == [["a"]])
        mount.giveUp()
    }

    @Test(
        "A pipeline whose folders do not answer at the start is left out, and begins once they do",
        .enabled(if: SilentMount.isPossible, Comment(rawValue: SilentMount.skip)))
    func silentAtStart() async throws {
        try write("b")
        let mount = try SilentMount(at: scratch.path("pipelines/b"))
        let reloader = try reloader(startPatience: 5)
        #expect(
            reloader.silent == [
                .init(file: scratch.path("pipelines/b.yaml"), place: scratch.path("pipelines/b/in"), name: "b")
            ])
        reloader.begin(with: [], apply())
        #expect(seen.taken.isEmpty)
        mount.giveUp()
        #expect(await eventually { seen.taken == [["a", "b"]] })
        #expect(await eventually { reloader.silent.isEmpty })
        #expect(seen.warnings.isEmpty && reloader.last == nil)
    }

    @Test(
        "What is wrong with all of them is found although one does not answer",
        .enabled(if: SilentMount.isPossible, Comment(rawValue: SilentMount.skip)))
    func wrongBesideSilence() throws {
        try write("b")
        try write("c", more: "formerly: b\n")
        let mount = try SilentMount(at: scratch.path("pipelines/b"))
        let reading = try PipelineReading(
            [scratch.path("pipelines")], by: PipelineArguments.loader(.builtin), patience: 5)
        #expect(reading.silent.map(\.name) == ["b"])
        let problems = #expect(throws: ConfigProblems.self) { try reading.pipelines.get() }
        #expect(problems?.all.count == 1 && problems?.description.contains("formerly") == true)
        mount.giveUp()
    }

    @Test(
        "Files that do not answer at the start are told",
        .enabled(if: SilentMount.isPossible, Comment(rawValue: SilentMount.skip)))
    func silentFiles() throws {
        let mount = try SilentMount(at: scratch.path("mount"))
        let file = scratch.path("pipelines/b.yaml")
        try #require(symlink(mount.path.appending("b.yaml").string, file.string) == 0)
        let error = #expect(throws: PipelineReading.Unanswered.self) { try reloader(startPatience: 5) }
        #expect(error?.message.contains("5.0 s: '\(file.text)' does not answer; mount its file system again") == true)
        mount.giveUp()
    }

    @Test(
        "The first one, too, looks at no folder of a pipeline that is as it was",
        .enabled(if: SilentMount.isPossible, Comment(rawValue: SilentMount.skip)))
    func unchanged() async throws {
        try scratch.write(
            "inbox: a/in\nprocessed: 'a/done/{pipeline}'\nfailed: a/failed\nstages: [move: { to: a/out }]\n",
            to: "pipelines/a.yaml")
        for folder in ["in", "done", "failed", "out", ".dropmill"] { try scratch.makeFolder("pipelines/a/\(folder)") }
        let reloader = try reloader(patience: 10)
        let loaded = try PipelineArguments.loader(.builtin).load([scratch.path("pipelines")])
        reloader.begin(with: loaded, apply())
        reloader.queue.sync {}
        let mount = try SilentMount(at: scratch.path("pipelines/a"))
        try write("b")
        ask(reloader)
        #expect(await eventually { seen.outcomes == [.taken([])] })
        #expect(seen.taken == [["a", "b"]])
        mount.giveUp()
    }

    @Test("How the files differ from what is in force") func differences() async throws {
        let reloader = try reloader()
        reloader.begin(with: [], apply())
        #expect(reloader.differences().differences.isEmpty)
        try write("a", more: "order: name\n")
        try write("b")
        func words() -> [String] {
            reloader.differences().differences.map { file, difference in
                let name = file.lastComponent?.string ?? ""
                return switch difference {
                case .changed: "\(name) changed"
                case .added: "\(name) added"
                case .gone(let why): "\(name) gone: \(why)"
                }
            }
        }
        #expect(words() == ["a.yaml changed", "b.yaml added"])
        ask(reloader)
        #expect(await eventually { seen.outcomes.count == 1 })
        #expect(words().isEmpty)
        try Folder.remove(scratch.path("pipelines/a.yaml"))
        #expect(words() == ["a.yaml gone: it is in none of the folders any more"])
    }
}
