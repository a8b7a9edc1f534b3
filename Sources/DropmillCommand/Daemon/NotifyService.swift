import Control
@preconcurrency import Dispatch
import Files
import Journal
import Notifications
import PipelineConfig
import PipelineEngine
import PipelineKit
import Synchronization
import SystemPackage

/// Has a daemon tell people what happens, as `notify` asks for it. Without that it is nothing but a flag.
final class NotifyService: Sendable {
    private struct State {
        var plan = NotifyPlan()
        var notifier: Notifier?
        var pinger: Pinger?
        var world: NotifyWorld?
        var outbox: (any Outbox)?
        /// Why other nodes pause pipelines, as they were seen last; nil: not yet.
        var elsewhere: [String: String]?
        var isClosing = false
    }

    /// How long the end of a run with `--once` waits for messages.
    private static let patienceAtEnd = Duration.seconds(10)
    /// How long a message may take that is sent to try it: a program ends before, and who asked is still there.
    static let patienceOfTest = Duration.seconds(72)

    private let sender: NoticeSender
    private let once: Bool
    private let warn: @Sendable (String) -> Void
    private let state = Mutex(State())
    /// Whether there are rules.
    private let isOn = Atomic(false)

    /// `folder`: the state folder.
    init(in folder: FilePath, once: Bool, warn: @escaping @Sendable (String) -> Void) {
        sender = NoticeSender(folder: folder.appending("notify"), environment: Environment.variables)
        (self.once, self.warn) = (once, warn)
    }

    /// The engine has started: tells from now on what is, and what was not told before.
    func begin(_ plan: NotifyPlan, _ engine: Engine, _ reloader: Reloader) {
        let disks = DiskWatch()
        let probe = JournalProbe { @Sendable () throws(JournalError) in try engine.probeJournal() }
        let world = NotifyWorld(
            look: { @Sendable [weak self] in
                self?.look(engine, reloader, disks, isFirst: $0) ?? NotifyLook(pipelines: [])
            },
            problems: { @Sendable in ControlService.answer(engine, reloader, probe).problems }, warn: warn)
        // Before the lock: the engine may be waiting for it, to have us closed.
        let outbox = engine.outbox
        state.withLock { ($0.world, $0.outbox) = (world, outbox) }
        use(plan)
    }

    /// Another plan is in force.
    func use(_ plan: NotifyPlan) {
        let (notifier, pinger, isNew) = state.withLock { state -> (Notifier?, Pinger?, Bool) in
            state.plan = plan
            guard let world = state.world, let outbox = state.outbox, !state.isClosing else { return (nil, nil, false) }
            let isNew = state.notifier == nil && !plan.rules.isEmpty
            if isNew { state.notifier = Notifier(outbox, world, sender, isStanding: !once) }
            if !once, state.pinger == nil, !plan.pings.isEmpty { state.pinger = Pinger(world, sender) }
            return (state.notifier, state.pinger, isNew)
        }
        if isNew {
            sender.tidy()
            notifier?.begin(plan.rules)
        } else {
            notifier?.use(plan.rules)
        }
        pinger?.use(plan.pings)
        isOn.store(!plan.rules.isEmpty, ordering: .relaxed)
    }

    /// Called for whatever happens.
    func note(_ event: EngineEvent) {
        guard isOn.load(ordering: .relaxed) else { return }
        switch event {
        case .settled(let report): if report.hasFailed, !report.isCancelled { notifier?.noteFailure() }
        case .paused(let pipeline, let failure): notifier?.note(.paused, of: pipeline, Self.text(failure))
        case .resumed(let pipeline, _):
            notifier?.note(.paused, of: pipeline, state.withLock { $0.elsewhere?[pipeline] })
        case .stalled(let pipeline, let stall):
            notifier?.note(.stalled, of: pipeline, Self.text(stall, pipeline))
        case .moving(let pipeline, _): notifier?.note(.stalled, of: pipeline, nil)
        case .archiving(let trouble): noteRetention(of: "", trouble)
        case .pruning(let pipeline, let trouble): noteRetention(of: pipeline, trouble)
        default: break
        }
    }

    private var notifier: Notifier? { state.withLock { $0.notifier } }

    /// What became of a reload.
    func note(_ outcome: Reloader.Outcome) {
        guard let notifier else { return }
        switch outcome {
        case .taken: notifier.note(.reloadRefused, of: "", nil)
        case .refused(let problems): notifier.note(.reloadRefused, of: "", Self.text(problems))
        case .stopping: break
        }
    }

    /// What is to be kept no longer could not be removed, and why; nil: it could. `pipeline`: empty for the history.
    func noteRetention(of pipeline: String, _ reason: String?) {
        notifier?.note(.retentionFailed, of: pipeline, reason)
    }

    /// The engine is about to close its journal.
    func close(_ done: @escaping @Sendable () -> Void) {
        isOn.store(false, ordering: .relaxed)
        let (notifier, pinger) = state.withLock { state in
            state.isClosing = true
            return (state.notifier, state.pinger)
        }
        pinger?.close()
        guard let notifier else { return done() }
        notifier.close(last: once ? Self.patienceAtEnd : nil, then: done)
    }

    /// Nothing more is told: the daemon was asked to stop.
    func stop() {
        guard !once else { return }
        close { @Sendable in }
    }

    // MARK: Trying

    /// Tries the entry of that number, or all, and tells what came of it.
    func test(_ number: Int?, _ done: @escaping @Sendable (Result<NotifyVerb.Answer, ControlProblem>) -> Void) {
        let (plan, world) = state.withLock { ($0.plan, $0.world) }
        let all = plan.rules.map(\.number) + plan.pings.map(\.number)
        if let number, !all.contains(number) {
            let there = all.isEmpty ? "there is no 'notify' in dropmill.yaml" : "there are \(all.count)"
            return done(.failure(ControlProblem("there is no notify[\(number)]; \(there)")))
        }
        guard !all.isEmpty, let world else {
            return done(.failure(ControlProblem("no notifications are configured; add 'notify' to dropmill.yaml")))
        }
        let rules = plan.rules.filter { number == nil || number == $0.number }
        let pings = plan.pings.filter { number == nil || number == $0.number }
        // All at once, each on a thread of its own: one that hangs must not have the others answered late.
        let outcomes = NotifyOutcomes(of: rules.count + pings.count, done)
        let deadline = MonotonicTime.now() + Self.patienceOfTest
        let isStopped = { @Sendable in MonotonicTime.now() > deadline }
        for rule in rules {
            DispatchQueue(label: "dropmill.notify.test").async { @Sendable [sender] in
                let delivery = sender.send(NoticeText.test(rule, at: .now()), to: rule.target, isStopped: isStopped)
                outcomes.add(.init(rule.number, rule.target.shown, delivery))
            }
        }
        for ping in pings {
            DispatchQueue(label: "dropmill.notify.test").async { @Sendable [sender] in
                let delivery = sender.ping(ping, world.problems(), isStopped: isStopped)
                outcomes.add(.init(ping.number, ping.shown, delivery))
            }
        }
    }

    // MARK: What is

    private func look(_ engine: Engine, _ reloader: Reloader, _ disks: DiskWatch, isFirst: Bool) -> NotifyLook {
        let (plan, isClosing) = state.withLock { ($0.plan, $0.isClosing) }
        // What has ended last is in the journal then; where it is not, the next run finds it and sends it.
        if isClosing { do throws(JournalError) { try engine.probeJournal() } catch {} }
        let (health, gauges) = (engine.health, engine.gauges)
        var look = NotifyLook(pipelines: gauges.map(\.name))
        guard !health.isStopping, !isClosing else { return look }
        // What an earlier run had paused may be about to pause again.
        if !isFirst {
            look.troubles[.paused] = pausedElsewhere(engine).map { others in
                health.paused.mapValues(Self.text).merging(others) { "\($0)\n\($1)" }
            }
            look.troubles[.stalled] = Dictionary(
                uniqueKeysWithValues: health.stalled.map { name, stall in
                    (name, Self.text(stall, name))
                })
        }
        if case .refused(let problems) = reloader.last?.outcome {
            look.troubles[.reloadRefused] = ["": Self.text(problems)]
        } else {
            look.troubles[.reloadRefused] = [:]
        }
        if plan.rules.contains(where: { $0.events.contains(.diskLow) }) {
            look.troubles[.diskLow] = disks.low(gauges)
        }
        return look
    }

    /// One node tells of all that share the journal. Nil where it is not known what the others do.
    private func pausedElsewhere(_ engine: Engine) -> [String: String]? {
        guard let journal = engine.reading as? any SharedJournal else { return [:] }
        do throws(JournalError) {
            let found = try NodesReport(journal)?.pauses(besides: journal.node) ?? [:]
            state.withLock { $0.elsewhere = found }
        } catch {
            // As it was seen last.
        }
        return state.withLock { $0.elsewhere }
    }

    fileprivate static func text(_ failure: Failure) -> String { "\(failure.summary) \(failure.remedy)" }

    private static func text(_ stall: Stall, _ pipeline: String) -> String {
        "\(stall.text); \(stall.remedy(pipeline))"
    }

    private static func text(_ problems: [String]) -> String {
        let shown = problems.prefix(10).joined(separator: "\n")
        return problems.count > 10 ? "\(shown)\nand \(problems.count - 10) more" : shown
    }
}

extension NodesReport {
    /// Why pipelines are paused on other nodes, with the nodes' names.
    func pauses(besides own: String) -> [String: String] {
        var texts: [String: [String]] = [:]
        for node in nodes where node.record.name != own {
            for record in node.paused {
                guard let failure = record.paused else { continue }
                texts[record.name, default: []].append(
                    "On the node '\(node.record.name)': \(NotifyService.text(failure))")
            }
        }
        return texts.mapValues { $0.joined(separator: "\n") }
    }
}

extension NotifyVerb.Outcome {
    fileprivate init(_ entry: Int, _ shown: String, _ delivery: Delivery) {
        self.init(entry: entry, to: shown, taken: delivery.isTaken, said: delivery.said)
    }
}
