@preconcurrency import Dispatch
package import Files
import Platform
import Synchronization
package import SystemPackage

/// Watches one inbox and the searched folders in it, and notifies its listener of what appeared, changed and vanished.
/// Kernel events make it quick; scans make it sure: at the start, every 60 seconds, after lost events and after an
/// absence.
///
/// A missing inbox or file system never counts as deleted files: it is reported once, and again when it is back.
///
/// It lives on its owner's queue; the listener is called there.
package actor InboxWatcher: QueueActor {
    let inbox: FilePath
    let selection: InboxSelection
    /// Folders deeper than this are not searched.
    let deepest: Int
    let listener: Listener
    private let events: any FolderEvents
    private let isSharing: Bool
    package nonisolated let executor: QueueExecutor
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    private let pace: Pace
    private let check: @Sendable () throws(WatchError) -> Void
    private let heard = HeardEvents()

    var listing = InboxScan()
    /// Names that are not taken, as far as they are of interest.
    package internal(set) var untaken = UntakenNames()
    var watches: FolderWatches?
    /// Folders that could not be searched.
    var refused: Set<InboxFolder> = []
    /// Changes to report in one batch.
    var unreported: [InboxChange] = []
    /// Why not every folder is watched, as far as the current scan knows.
    var blindness: String?
    /// Why events do not tell all, as its owner knows.
    private var limitation: String?
    /// How the inbox is watched; nil before the first scan and after the end.
    package private(set) var mode: WatchMode?
    /// Why it is not watched by events.
    private(set) var reason: String?
    private var timer: (any DispatchSourceTimer)?
    private var absence = AbsenceDetector(pulse: .zero, starting: .now())
    private var lastScan = MonotonicTime(nanoseconds: 0)
    private var interval = Duration.zero
    private var scanTook = Duration.zero
    private var isScanAsked = false
    private var isRunning = false
    private var hasScanned = false
    private var isLost = false
    /// Which folder the inbox was at the last scan.
    private(set) var identity: FileIdentity?

    /// A watcher that is not started. `isSharing`: whether its folders may be others' inboxes too; `check` throws while
    /// the inbox is not what it should be (its file system is away).
    package init(
        inbox: FilePath, selection: InboxSelection, deepest: Int = .max, events: any FolderEvents,
        isSharing: Bool = false,
        executor: QueueExecutor, pace: Pace = Pace(), listener: Listener,
        check: @escaping @Sendable () throws(WatchError) -> Void = {}
    ) {
        self.inbox = inbox
        self.selection = selection
        self.deepest = deepest
        self.events = events
        self.isSharing = isSharing
        self.executor = executor
        self.pace = pace
        self.listener = listener
        self.check = check
    }

    /// Begins to watch and scans at once. When it runs already, nothing happens.
    package func start() {
        guard !isRunning else { return }
        isRunning = true
        hasScanned = false
        isLost = false
        let heard = heard
        watches = FolderWatches(events, isSharing: isSharing) { @Sendable [weak self] events in
            guard let self, heard.add(events) else { return }
            enqueue { watcher in watcher.receive(heard.take()) }
        }
        scan()
        startTimer()
    }

    /// Stops watching and lets go of everything. When it is stopped already, nothing happens.
    package func stop() {
        guard isRunning else { return }
        isRunning = false
        mode = nil
        watches?.stop()
        watches = nil
        listing.reset()
        untaken = UntakenNames()
        timer?.cancel()
        timer = nil
    }

    /// We claimed the drop: its disappearance is not reported.
    package func took(_ path: DropPath) {
        listing.remove(path)
    }

    /// All names of the inbox itself, by the last listing.
    var names: Set<FileName> { listing.names(of: .top) }

    /// Whether the name is in the inbox, by the last listing.
    package func knows(_ path: DropPath) -> Bool { listing.knows(path) }

    // MARK: Scans

    /// Lists the inbox and reports the differences.
    package func scan() {
        guard isRunning else { return }
        isScanAsked = false
        let begun = MonotonicTime.now()
        blindness = nil
        attempt { () throws(IOError) in
            let opened = try OpenInbox(inbox)
            identity = FileIdentity(try opened.top.file.status())
            try walk(opened, from: .top)
        }
        lastScan = .now()
        scanTook = lastScan - begun
        guard !isLost else { return }
        setMode()
        let isInitial = !hasScanned
        hasScanned = true
        listener.scanned(isInitial)
    }

    /// Runs `body` on the inbox. An error marks it as lost; it is found again when something succeeds.
    private func attempt(_ body: () throws(IOError) -> Void) {
        do throws(WatchError) {
            try check()
            do throws(IOError) { try body() } catch { throw .io(error) }
        } catch {
            return lose(because: error)
        }
        notify()
        guard isLost else { return }
        isLost = false
        listener.recovered()
    }

    private func lose(because error: WatchError) {
        // Report what was found before the failure: the listing already contains it and would not report it again.
        notify()
        // Drops keep waiting; once the inbox is back, all of them are examined afresh.
        listing.doubt()
        watches?.endAll()
        guard !isLost else { return }
        isLost = true
        listener.failed(error)
    }

    /// Scans soon: a flood that makes the kernel lose events again and again must not make this scan all the time.
    private func askForScan() {
        guard !isScanAsked else { return }
        let earliest = lastScan + min(scanTook * 4, .seconds(5))
        let now = MonotonicTime.now()
        guard earliest > now else { return scan() }
        isScanAsked = true
        enqueue(after: earliest - now) { watcher in
            if watcher.isScanAsked { watcher.scan() }
        }
    }

    // MARK: Events

    private func receive(_ events: [WatchEvent]) {
        guard isRunning, !isLost else { return }
        var mustScan = false
        attempt { () throws(IOError) in
            for event in events {
                switch event {
                case .overflow: mustScan = true
                case .of(let watch, let event):
                    guard let folder = watches?.folder(of: watch) else { continue }
                    if try handle(event, in: folder) { mustScan = true }
                }
            }
        }
        if mustScan { askForScan() }
    }

    /// Handles one event; returns whether a scan is needed.
    private func handle(_ event: FolderEvent, in folder: InboxFolder) throws(IOError) -> Bool {
        switch event {
        case .appeared(let name, isFolder: true) where selection.enters(name, folder),
            .touched(let name, isFolder: true) where selection.enters(name, folder):
            let new = folder.appending(name)
            listing.heard(ofFolder: name, in: folder)
            // One that is known was found by a scan, or by the walk through the one above it.
            if !listing.knows(new) { try walk(try OpenInbox(inbox), from: new) }
        case .vanished(let name, isFolder: true) where selection.enters(name, folder):
            forget(folder.appending(name))
        case .appeared(let name, _), .touched(let name, _):
            if selection.takes(name) {
                report(listing.heard(of: name, in: folder))
            } else if selection.passes(name) {
                untaken.saw(name, in: folder, at: .now())
            }
        case .vanished(let name, _):
            if let change = listing.lost(name, in: folder) { report(change) } else { untaken.lost(name, in: folder) }
        case .rightsChanged, .somethingChanged: return true
        case .gone:
            if folder.isTop {
                watches?.end(.top)
                return true
            }
            // Where it is known still, its watch may be one that a scan found under its new name before the news of its
            // move came: its contents must not wait for the next scan.
            let isKnown = listing.knows(folder)
            forget(folder)
            if isKnown, let path = folder.path, listing.knows(path.folder) {
                listing.heard(ofFolder: path.name, in: path.folder)
                try walk(try OpenInbox(inbox), from: folder)
            }
        }
        return false
    }

    // MARK: The way of watching

    /// Events do not tell all, for this reason, or do so again (nil).
    func limit(because reason: String?) {
        limitation = reason
        if isRunning, hasScanned, !isLost { setMode() }
    }

    /// After a scan: events where every folder is watched, else polling.
    private func setMode() {
        let reason =
            switch FileSystemKind.of(inbox) {
            case .network(let name): "a \(name) file system reports no events for changes made elsewhere"
            case .local: events.lack ?? blindness ?? limitation
            }
        self.reason = reason
        let new: WatchMode = reason == nil ? .events : .polling(every: pace.poll)
        guard new != mode else { return }
        let old = mode
        mode = new
        if timer != nil { startTimer() }
        listener.watching(new, reason ?? (old == nil ? nil : "events work again in every folder of the inbox"))
    }

    private func startTimer() {
        timer?.cancel()
        interval = min(pace.pulse, mode == .events ? pace.rescan : pace.poll)
        absence = AbsenceDetector(pulse: interval, starting: .now())
        timer = executor.queue.every(interval, leeway: interval / 20) { @Sendable [weak self] in
            self?.assumeIsolated { $0.pulse() }
        }
    }

    private func pulse() {
        guard isRunning else { return }
        let wasAway = absence.wasAway(.now())
        let isDue = Self.isScanDue(
            MonotonicTime.now() - lastScan + scanTook, after: scanTook,
            every: mode == .events ? pace.rescan : pace.poll, pulse: interval)
        // No event reports a mount over the inbox or a replaced folder above it.
        if isLost || wasAway || isDue || !isInPlace() { scan() }
    }

    /// Whether so long after the last scan began, which took so long, it is time for the next one. Pulses are never
    /// exact, and scans that take long leave time for other work.
    static func isScanDue(_ passed: Duration, after took: Duration, every pause: Duration, pulse: Duration) -> Bool {
        passed + pulse / 2 >= max(pause, took * 2 + pulse / 2)
    }

    private func isInPlace() -> Bool {
        do {
            try check()
            return FileIdentity(try OpenInbox(inbox).top.file.status()) == identity
        } catch {
            return false
        }
    }
}
