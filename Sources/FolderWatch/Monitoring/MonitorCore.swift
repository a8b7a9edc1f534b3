import Files
import Platform
import SystemPackage

/// What a folder monitor does, on its queue: the watcher says which names may differ, and what is there under each now
/// decides. Whoever holds the monitor holds this, but nothing here holds the monitor.
actor MonitorCore: QueueActor {
    nonisolated let executor = QueueExecutor(label: "dropmill.monitor")
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    nonisolated let folder: FilePath
    private let options: FolderMonitor.Options

    private var watcher: InboxWatcher?
    private var events: (any FolderEvents)?
    private var files: FileWatches?
    private var entries: [FileName: FolderEntry] = [:]
    /// Names that may differ from their entries; nil: all.
    private var doubtful: Set<FileName>? = []
    private var isFlushAsked = false
    private var isListedAgain = false
    private var isStarting = false
    private(set) var state = FolderMonitor.State.stopped
    /// Whether `entries` are of a listing that was read to its end.
    private var isListed = false
    private var hasEnded = false

    private var differences: [Outbox<PendingDifference>] = []
    private var states: [Outbox<Latest<FolderMonitor.State>>] = []

    init(_ folder: FilePath, _ options: FolderMonitor.Options) {
        self.folder = folder
        self.options = options
    }

    var isRunning: Bool { watcher != nil }

    var contents: [FolderEntry] { isRunning ? entries.values.sortedByName : [] }

    // MARK: Starting and stopping

    /// Starts it; why that is not possible.
    nonisolated func start() -> WatchError? { sync { $0.begin() } }

    nonisolated func stop(isForGood: Bool) {
        syncUnlessCurrent { core in
            core.end()
            core.hasEnded = isForGood
            core.differences.removeAll { core.isOver($0) }
            core.states.removeAll { core.isOver($0) }
        }
    }

    nonisolated func restart() -> WatchError? {
        sync { core in
            core.end()
            return core.begin()
        }
    }

    /// Ends an outbox that a stop ends.
    private func isOver(_ outbox: Outbox<some Merging>) -> Bool {
        guard outbox.isOfTask || hasEnded else { return outbox.isEnded }
        outbox.end()
        return true
    }

    private func begin() -> WatchError? {
        guard watcher == nil else { return nil }
        // Not the current folder, which is what an empty path would begin in.
        guard !folder.isEmpty else { return .io(IOError("open", folder, .noSuchFileOrDirectory)) }
        let events = SharedEvents.take(options.events)
        self.events = events
        if !events.tellsOfWrites {
            let heard = HeardEvents()
            files = FileWatches(events, most: options.mostWatchedFiles) { @Sendable [weak self] events in
                guard let self, heard.add(events) else { return }
                enqueue { $0.receive(heard.take()) }
            }
        }
        let watcher = makeWatcher(events)
        self.watcher = watcher
        doubtful = nil
        isStarting = true
        watcher.assumeIsolated { $0.start() }
        isStarting = false
        if case .away(let error) = state {
            state = .stopped
            end()
            return error
        }
        set(state)
        flush()
        differences.forEach { $0.hold(false) }
        return nil
    }

    private func end() {
        guard let watcher else { return }
        watcher.assumeIsolated { $0.stop() }
        self.watcher = nil
        files?.stop()
        files = nil
        if let events { SharedEvents.giveBack(events, options.events) }
        events = nil
        differences.forEach { $0.hold(true) }
        if state != .stopped { set(.stopped) }
    }

    private func makeWatcher(_ events: any FolderEvents) -> InboxWatcher {
        var pace = InboxWatcher.Pace()
        // Timers take neither less than nothing nor for ever, and one without a pause takes a core.
        func bounded(_ pause: Duration) -> Duration { min(max(.milliseconds(10), pause), .seconds(1_000_000)) }
        (pace.rescan, pace.poll, pace.pulse) = (bounded(options.rescan), bounded(options.poll), bounded(options.pulse))
        let (isIncluded, only) = (options.isIncluded, options.only)
        let selection = InboxSelection(
            depth: 1,
            takes: { @Sendable name in
                if let only { return name == only }
                guard let isIncluded else { return true }
                return FilePath(bytes: name.bytes).lastComponent.map(isIncluded) ?? false
            }, enters: { @Sendable _, _ in false })
        return InboxWatcher(
            inbox: folder, selection: selection, events: events, isSharing: true, executor: executor, pace: pace,
            listener: InboxWatcher.Listener(
                changed: { @Sendable [weak self] changes in self?.assumeIsolated { $0.doubt(changes) } },
                scanned: { @Sendable [weak self] _ in self?.assumeIsolated { $0.doubtAll() } },
                refused: { @Sendable _, _ in },
                watching: { @Sendable [weak self] mode, reason in
                    self?.assumeIsolated { $0.watches(mode, reason) }
                },
                failed: { @Sendable [weak self] error in self?.assumeIsolated { $0.set(.away(error)) } },
                recovered: { @Sendable [weak self] in self?.assumeIsolated { $0.recovered() } }))
    }

    // MARK: What is heard

    private func doubt(_ changes: [InboxChange]) {
        for change in changes { doubtful?.insert(change.path.name) }
        flushSoon()
    }

    private func doubtAll() {
        doubtful = nil
        flushSoon()
    }

    private func receive(_ events: [WatchEvent]) {
        for event in events {
            switch event {
            case .overflow: doubtful = nil
            case .of(let watch, let event):
                for name in files?.names(of: watch) ?? [] {
                    if event == .gone { files?.end(name) }
                    doubtful?.insert(name)
                }
            }
        }
        flushSoon()
    }

    private func watches(_ mode: WatchMode, _ reason: String?) {
        switch mode {
        case .events: set(.events)
        case .polling(let pause): set(.polling(every: pause, because: reason ?? ""))
        }
    }

    /// The state before the absence is what it is in now: the watcher only says what differs from that.
    private func recovered() {
        guard let watcher else { return }
        let mode = watcher.assumeIsolated { $0.mode }
        if let mode { watches(mode, watcher.assumeIsolated { $0.reason }) }
        doubtAll()
    }

    // MARK: What is there

    /// All that a turn of the queue hears is told as one difference.
    private func flushSoon() {
        guard !isFlushAsked else { return }
        isFlushAsked = true
        enqueue { core in
            if core.isFlushAsked { core.flush() }
        }
    }

    /// Lists the folder now and tells what differs.
    func look() -> [FolderEntry]? {
        guard let watcher else { return nil }
        watcher.assumeIsolated { $0.scan() }
        flush()
        if case .away = state { return nil }
        return contents
    }

    /// What is there now under these names.
    func look(at names: [FileName]) -> [FileName: FolderEntry]? {
        guard isRunning else { return nil }
        do throws(IOError) {
            let file = try OpenInbox.open(folder)
            var seen: [FileName: FolderEntry] = [:]
            for name in names { seen[name] = look(at: name, in: file) }
            return seen
        } catch {
            return nil
        }
    }

    private func flush() {
        isFlushAsked = false
        guard let watcher, doubtful?.isEmpty != true else { return }
        if case .away = state { return }
        do throws(IOError) {
            let file = try OpenInbox.open(folder)
            // Exchanged since it was listed: its names belong to what is told as well. Once, since some file systems
            // give a folder another number each time.
            let isOther = FileIdentity(try file.status()) != watcher.assumeIsolated { $0.identity }
            guard !isOther || isListedAgain else {
                isListedAgain = true
                return watcher.assumeIsolated { $0.scan() }
            }
            isListedAgain = false
            var changes: [Change] = []
            let looked = doubtful ?? watcher.assumeIsolated { $0.names }.union(entries.keys)
            for name in looked {
                let (old, new) = (entries[name], look(at: name, in: file))
                guard old != new else { continue }
                entries[name] = new
                changes.append((name, old, new))
            }
            doubtful = []
            isListed = true
            watch(looked, changes, in: file)
            tell(changes)
        } catch {
            // The watcher finds out, too, and says when it is back; else it was only for a moment.
            doubtful = nil
            enqueue(after: options.pulse) { $0.flushSoon() }
        }
    }

    private typealias Change = (name: FileName, old: FolderEntry?, new: FolderEntry?)

    private func look(at name: FileName, in file: borrowing OpenFile) -> FolderEntry? {
        if let status = FileStatus.of(name, in: file) { return FolderEntry(name, status) }
        switch Errno.last {
        case .noSuchFileOrDirectory, .notDirectory: return nil
        default: return entries[name] ?? FolderEntry(unknown: name)
        }
    }

    /// Sees to it that the files that changed last are watched themselves, where that is needed.
    private func watch(_ looked: Set<FileName>, _ changes: [Change], in file: borrowing OpenFile) {
        guard files != nil else { return }
        for change in changes where change.new?.inode != change.old?.inode { files?.end(change.name) }
        // A watch also ends when its file is renamed, be it back at once.
        let unwatched = files?.unwatched(of: looked) ?? []
        let written = unwatched.union(changes.map(\.name)).compactMap { entries[$0] }.filter { $0.kind == .file }
        for entry in written.sorted(by: { $0.changed < $1.changed }).suffix(options.mostWatchedFiles) {
            // What was written before it was watched is not told of.
            if files?.follow(entry.fileName, in: file) == true { doubtful?.insert(entry.fileName) }
        }
        let lack = files?.lack(of: entries.values.count { $0.kind == .file })
        watcher?.assumeIsolated { $0.limit(because: lack) }
        if doubtful?.isEmpty == false { flushSoon() }
    }

    // MARK: Telling

    private func tell(_ changes: [Change]) {
        differences.removeAll(where: \.isEnded)
        for outbox in differences {
            outbox.add { pending in
                for change in changes { pending.note(change.name, from: change.old, to: change.new) }
                pending.complete()
            }
        }
    }

    private func set(_ new: FolderMonitor.State) {
        state = new
        // One that cannot start was never anything but stopped.
        guard !isStarting else { return }
        states.removeAll(where: \.isEnded)
        for outbox in states { outbox.add { $0.note(new) } }
    }

    nonisolated func add(_ outbox: Outbox<PendingDifference>) {
        enqueue { core in
            guard !core.hasEnded else { return outbox.end() }
            core.differences.removeAll(where: \.isEnded)
            core.differences.append(outbox)
            outbox.hold(!core.isRunning)
            guard core.isListed else { return }
            outbox.add { pending in
                for (name, entry) in core.entries { pending.note(name, from: nil, to: entry) }
                pending.complete()
            }
        }
    }

    nonisolated func add(_ outbox: Outbox<Latest<FolderMonitor.State>>) {
        enqueue { core in
            guard !core.hasEnded else { return outbox.end() }
            core.states.removeAll(where: \.isEnded)
            core.states.append(outbox)
            outbox.add { $0.note(core.state) }
        }
    }
}
