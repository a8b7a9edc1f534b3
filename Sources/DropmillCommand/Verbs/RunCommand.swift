import ArgumentParser
import CLinux
import Control
import Dispatch
import Dropmill
import Files
import Glibc
import Logging
import PipelineConfig
import PipelineEngine
import PipelineKit
import Retention
import Synchronization
import SystemPackage

/// `dropmill run`: the daemon, in the foreground.
struct RunCommand: StageVerb {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Watch the inboxes and process what is dropped there, in the foreground.",
        discussion: """
            SIGTERM and SIGINT stop it: it claims nothing more, running stages may finish within the grace period, and \
            the rest resumes at the next start. A second signal ends it at once; nothing is lost then either. SIGHUP \
            has it read its pipeline files again. SIGUSR1 and SIGUSR2 have no effect.

            Example: process what is in the inbox now, then exit:

              dropmill run --once pipelines/quickstart.yaml
            """)

    @OptionGroup var pipelines: PipelineArguments
    @OptionGroup var settings: SettingsOption
    @OptionGroup var logging: LogArguments

    @Flag(
        help: """
            Settle what is in the inboxes now, then exit; with status 1 if a job failed or is unfinished, if a \
            pipeline is paused, or if a drop stays because its marker, manifest or format calls it incomplete.
            """)
    var once = false

    @Flag(help: "Start although a folder of pipelines is empty, and wait for a reload.")
    var allowNone = false

    @OptionGroup var state: StateArguments
    @OptionGroup var node: NodeArguments

    @Option(
        help: ArgumentHelp(
            "How long running stages may continue after a signal, such as 5m. (default: 30s)", valueName: "duration"),
        transform: TimeArgument.duration)
    var grace: Duration = .seconds(30)

    @Option(
        help: ArgumentHelp(
            "How long the journal keeps jobs that are over, such as 30d. (default: as 'history' in dropmill.yaml says, "
                + "else 90d)", valueName: "duration"),
        transform: TimeArgument.history)
    var keepHistory: Duration?

    func run(with stages: StageRegistry) throws {
        // Before anything else is read: what it knows is not for other programs of its user, also not those it runs.
        guard dm_keep_private() == 0 else {
            StandardError.print(
                StandardError.line(of: "cannot protect the daemon's memory from other processes: \(Errno.last)"))
            throw ExitStatus.failure
        }
        // Closed pipes and broken leases are reported by errno; their signals must not end the daemon.
        signal(SIGPIPE, SIG_IGN)
        dm_ignore_broken_leases()
        // Whoever started this may have ignored it, and then children are not kept until they are waited for.
        signal(SIGCHLD, SIG_DFL)
        let signals = StopSignals()
        // Last of all: until then a second signal ends whatever hangs.
        defer { signals.allow() }
        let service = ServiceNotifier.ofManager()
        service?.starting()
        let loader = PipelineArguments.loader(stages, mayBeNone: allowNone, isShared: node.journal.place != nil)
        let lookout = Lookout(label: "dropmill.reload.reading")
        let reading = try signals.whileNothingRuns { self.read(loader, lookout) }.get()
        let (loaded, inForce) = (
            try PipelineArguments.orReport(reading.pipelines),
            try PipelineArguments.orReport(
                Result { () throws(ConfigProblems) in try loader.settings(of: reading.files) })
        )
        Self.raiseFileLimit()
        let flags = DaemonFlags(keepHistory: keepHistory, logFormat: logging.logFormat, logLevel: logging.logLevel)
        let logged = flags.log(inForce)
        let output = logged.output()
        let log = logged.jobLog(on: output, namesPipeline: reading.files.all.count > 1)
        let feed = ControlFeed(run: String(UInt64.random(in: .min ... .max), radix: 16))
        let place = state.folder(for: pipelines.paths)
        let folder = place.path
        let notify = NotifyService(in: folder, once: once) { @Sendable message in
            log.record(.warning(pipeline: nil, message: message))
            feed.note(.warning(pipeline: nil, message: message))
        }
        let tell = { @Sendable (event: EngineEvent) in
            log.record(event)
            feed.note(event)
            notify.note(event)
        }
        let warn = { @Sendable (message: String) in tell(.warning(pipeline: nil, message: message)) }
        service?.warn(by: warn)
        for left in reading.silent {
            warn("\(left.file.text) is not started: \(left.text)" + (once ? "" : "; it begins as soon as that does"))
        }
        for warning in inForce.notify.warnings(among: loaded.map(\.name)) { warn(warning) }
        var configuration = EngineConfiguration(
            state: folder, journal: node.store(in: place), once: once, history: flags.history(inForce),
            judge: FormatProgram.own.judge)
        configuration.archive = JobArchive { JobJSON.line($0) }
        configuration.pulse = { @Sendable in service?.note($0.text) }
        configuration.members = inForce.controlGroup
        (configuration.stall, configuration.jobsAtOnce) = (inForce.stall, inForce.jobsAtOnce)
        configuration.expelled = { @Sendable in
            output.flush()
            Replacement.begin()
        }
        let memory = once ? nil : IdleMemory()
        let engine = Engine(pipelines: loaded, configuration: configuration) { @Sendable in
            tell($0)
            memory?.noteEvent()
        }
        memory?.release { @Sendable in engine.releaseMemory() }
        let awaiting = { @Sendable (silent: [PipelineReading.Silence]) in
            let named = silent.map { ($0.name ?? $0.file.text, $0.place) }
            engine.wait(for: Dictionary(named) { first, _ in first })
        }
        awaiting(reading.silent)
        let reloader = Reloader(
            pipelines.given, settings: settings.place, loader: loader, loaded: reading, inForce, lookout,
            service: service, retry: once ? nil : .seconds(10), awaiting: awaiting,
            heard: { @Sendable in notify.note($0) }, report: tell)
        let record = ControlRecord(
            trail: { @Sendable in engine.auditTrail }, warn: { @Sendable in tell(.trouble(message: $0)) },
            node: node.journal.place == nil ? nil : node.name)
        let sending = SendingQueue(engine)
        engine.beforeClosing { @Sendable in sending.close($0) }
        let desk = UploadDesk(engine, in: folder, warn: warn)
        engine.beforeClosing { @Sendable in desk.close($0) }
        let prune = PruneService(once: once, tell: tell)
        engine.beforeClosing { @Sendable in prune.close($0) }
        engine.beforeClosing { @Sendable in notify.close($0) }
        let watchdog = Watchdog(for: service, engine, warn: warn)
        signals.listen { @Sendable [grace] in
            output.stopWaiting()
            service?.stopping()
            reloader.end()
            notify.stop()
            sending.stop()
            engine.stop(grace: grace)
        } reload: { @Sendable in
            ControlService.reloadBySignal(reloader, record)
        } answer: { @Sendable in
            watchdog?.heard(from: .signals)
        }
        watchdog?.begin()
        for warning in [Self.sandboxWarning].compactMap(\.self) + node.warnings(in: place) { warn(warning) }
        let outcome = Outcome()
        do throws(EngineError) {
            try engine.start {
                notify.begin(inForce.notify, engine, reloader)
                prune.begin(engine, loaded)
            } finished: { @Sendable in
                outcome.report($0)
            }
        } catch {
            if output.isJournal {
                log.refuseStart(error.message)
            } else {
                output.write(Array((StandardError.line(of: error.message) + "\n").utf8))
            }
            output.finish()
            throw error.kind == .configuration ? ExitStatus.configuration : ExitStatus.busy
        }
        engine.whenWatching(within: .seconds(30)) { @Sendable in service?.ready() }
        let control = ControlService.open(
            in: folder, engine, reloader, feed, sending, desk, notify, prune, access: ControlAccess(inForce),
            record: record,
            warn: warn)
        desk.sweep()
        reloader.begin(
            with: loaded,
            Reloader.applying(
                to: engine, control, notify, prune, flags, log, warn: warn))
        let summary = outcome.wait()
        control?.stop()
        service?.flush()
        output.finish()
        if once { for line in Self.closing(summary) { print(line) } }
        if once, Self.hadTrouble(summary) || !reading.silent.isEmpty { throw ExitStatus.failure }
    }

    /// Nothing waits longer for the files, and for the folders that they name, than a reload does.
    private func read(_ loader: PipelineLoader, _ lookout: Lookout) -> Result<PipelineReading, ExitCode> {
        do throws(PipelineReading.Unanswered) {
            return .success(
                try PipelineReading(
                    pipelines.given, settings: settings.place, by: loader, lookout, patience: Reloader.patience))
        } catch {
            StandardError.print(StandardError.line(of: error.message))
            return .failure(ExitStatus.busy)
        }
    }

    /// Every pipeline takes descriptors, and the soft limit of 1,024 is for programs that use select(2), which this one
    /// does not (systemd.exec(5), "LimitNOFILE=").
    private static func raiseFileLimit() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = max(limit.rlim_cur, min(limit.rlim_max, 65_536))
        _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    /// Whether `--once` failed: a drop that merely stayed in its inbox is no failure, unless its marker, manifest or
    /// format calls it incomplete, or its pipeline is paused.
    static func hadTrouble(_ summary: RunSummary) -> Bool {
        summary.failed + summary.unfinished > 0 || !summary.paused.isEmpty || !summary.held.isEmpty
            || summary.remaining.contains(where: \.isContradicted)
    }

    /// `3 processed, 1 failed`, and a line for each drop that stayed.
    static func closing(_ summary: RunSummary) -> [String] {
        var line = "\(summary.processed) processed, \(summary.failed) failed"
        if summary.unfinished > 0 { line += ", \(summary.unfinished) unfinished" }
        return [line] + summary.remaining.map { "\($0.pipeline): \($0.path.text) \($0.reason)" }
            + summary.paused.sorted { $0.key < $1.key }.map { "\($0.key): paused: \($0.value)" }
            + summary.held.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
    }
}

/// Hands the engine's summary to the main thread.
private final class Outcome: Sendable {
    private let summary = Mutex<RunSummary?>(nil)
    private let isThere = DispatchSemaphore(value: 0)

    func report(_ value: RunSummary) {
        summary.withLock { $0 = value }
        isThere.signal()
    }

    func wait() -> RunSummary {
        while true {
            isThere.wait()
            if let value = summary.withLock({ $0 }) { return value }
        }
    }
}
