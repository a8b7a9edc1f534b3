import Files
import SystemPackage

/// What a settled folder does, on its queue: its monitor tells of changes, and looks when something is due.
actor SettledCore: QueueActor {
    nonisolated let executor = QueueExecutor(label: "dropmill.settled")
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    nonisolated let monitor: FolderMonitor
    private let precision: SettledFolder.Precision

    /// Each file for itself.
    private var gate: ReadyGate
    /// All of them.
    private var rest: FolderRest
    /// What is there, as it was told.
    private var entries: [FileName: FolderEntry] = [:]
    /// What has come to rest, for those who listen later.
    private var settled: Set<FileName> = []
    private var alarm: Alarm?
    private var outboxes: [Outbox<SettledNews>] = []
    /// While it is stopped, what had settled is not told.
    private var isTelling = false
    private var hasEnded = false

    init(_ monitor: FolderMonitor, _ options: SettledFolder.Options) {
        self.monitor = monitor
        precision = options.precision
        // So that "never", said as a very long time, does not overflow.
        let quiet = min(max(.zero, options.quiet), .seconds(1_000_000))
        let samples = min(max(2, options.samples), 1000)
        gate = ReadyGate(rule: ReadyGate.Rule(quiet: quiet * (samples - 1)))
        rest = FolderRest(quiet: quiet, samples: samples)
        monitor.listen(
            Outbox<PendingDifference>(on: executor.queue) { @Sendable [weak self] difference in
                self?.assumeIsolated { $0.receive(difference) }
            })
    }

    // MARK: Starting and stopping

    /// Starts, or starts again; why that is not possible.
    nonisolated func begin(again: Bool = false) -> WatchError? {
        sync { core in
            do throws(WatchError) {
                if again {
                    core.pause()
                    try core.monitor.restart()
                } else {
                    try core.monitor.start()
                }
            } catch {
                return error
            }
            // After what differs by now: what had settled may have changed.
            core.enqueue { core in
                core.isTelling = true
                core.outboxes.forEach { $0.hold(false) }
                core.wait()
            }
            return nil
        }
    }

    nonisolated func stop(isForGood: Bool) {
        syncUnlessCurrent { core in
            core.monitor.stop()
            core.hasEnded = isForGood
            core.pause()
            for outbox in core.outboxes where isForGood || outbox.isOfTask { outbox.end() }
        }
    }

    private func pause() {
        isTelling = false
        alarm?.set(nil)
        outboxes.forEach { $0.hold(true) }
    }

    nonisolated func add(_ outbox: Outbox<SettledNews>) {
        enqueue { core in
            guard !core.hasEnded else { return outbox.end() }
            core.outboxes.removeAll(where: \.isEnded)
            core.outboxes.append(outbox)
            outbox.hold(!core.isTelling)
            outbox.add { news in
                for entry in core.settled.compactMap({ core.entries[$0] }).sortedByName { news.note(entry) }
                if core.rest.isSettled { news.note(core.entries.values.sortedByName) }
            }
        }
    }

    // MARK: What is heard and seen

    private func receive(_ difference: FolderDifference) {
        let now = MonotonicTime.now()
        var changed: Set<FileName> = []
        for entry in difference.deleted {
            entries[entry.fileName] = nil
            gate.forget(DropPath(entry.fileName))
            changed.insert(entry.fileName)
        }
        for entry in difference.inserted + difference.changed {
            let key = DropPath(entry.fileName)
            let before = entries.updateValue(entry, forKey: entry.fileName)
            if let before, isSame(before, entry), settled.contains(entry.fileName) || gate.contains(key) { continue }
            // As if it were new: its wait begins now, with that of the folder, which so comes to rest after it.
            gate.forget(key)
            gate.touch(key, at: now)
            changed.insert(entry.fileName)
        }
        guard difference.isInitial || !changed.isEmpty else { return }
        settled.subtract(changed)
        tell { $0.forget(changed) }
        rest.change(at: now)
        lookAtFiles(at: now)
        wait()
    }

    private func isSame(_ old: FolderEntry, _ new: FolderEntry) -> Bool {
        switch precision {
        case .full: old == new
        case .seed: old.fileName == new.fileName && old.size == new.size
        }
    }

    private func wait() {
        let alarm =
            alarm
            ?? Alarm(on: executor.queue, leeway: .milliseconds(1)) { @Sendable [weak self] in
                self?.assumeIsolated { $0.look() }
            }
        self.alarm = alarm
        alarm.set([gate.nextDue, rest.nextLook].compactMap { $0 }.min())
    }

    private func look() {
        guard monitor.isRunning else { return }
        lookAtFiles(at: .now())
        if let due = rest.nextLook, due <= .now() { lookAtFolder() }
        wait()
    }

    private func lookAtFiles(at now: MonotonicTime) {
        let requests = gate.due(at: now)
        // The first looks at a file only begin its wait: what the monitor saw is enough for them.
        let deciding = requests.filter(\.deciding).map(\.key.name)
        let seen = deciding.isEmpty ? [:] : monitor.look(at: deciding)
        for request in requests {
            let name = request.key.name
            guard let seen else {
                gate.postpone(request.key, to: now + Self.absencePause)
                continue
            }
            let entry = request.deciding ? seen[name] : entries[name]
            let sample = entry.map { self.sample(of: $0) } ?? Sample.gone
            guard case .ready = gate.record(sample, of: request.key, at: now), let entry else { continue }
            settled.insert(name)
            tell { $0.note(entry) }
        }
    }

    /// Whatever was heard. What differs comes as a difference, too.
    private func lookAtFolder() {
        let before = entries
        guard let seen = monitor.look(), !seen.contains(where: { $0.kind == .unknown }) else {
            return rest.postpone(to: .now() + Self.absencePause)
        }
        let isSame =
            seen.count == before.count
            && seen.allSatisfy { entry in before[entry.fileName].map { self.isSame($0, entry) } ?? false }
        if rest.look(isSame: isSame, at: .now()) { tell { $0.note(seen) } }
    }

    /// Until the next look at a folder that is away, or holds what may not be examined.
    private static let absencePause = Duration.seconds(1)

    private func sample(of entry: FolderEntry) -> Sample {
        // Whether it is still written to, nobody can tell.
        guard entry.kind != .unknown else { return .blocked(.permissionDenied, nil) }
        let size = entry.kind == .file ? entry.size : 1
        let isFull = precision == .full
        let fingerprint = Fingerprint(
            device: 0, inode: 0, size: size, modified: .distantPast, changed: .distantPast,
            listing: isFull ? entry.hashValue : 0)
        return .file(fingerprint, .none)
    }

    private func tell(_ merge: (inout SettledNews) -> Void) {
        outboxes.removeAll(where: \.isEnded)
        for outbox in outboxes { outbox.add(merge) }
    }
}
