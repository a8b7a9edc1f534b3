@preconcurrency package import Dispatch
import Glibc
package import PipelineKit
package import SystemPackage

/// Watches one inbox and tells its listener what appeared, changed and vanished. Events, where the kernel gives them,
/// make it quick; a scan at the start, every 60 seconds, after lost events and after an absence makes it sure.
///
/// All of it lives on the queue it is given; the listener is called there.
package final class InboxWatcher: @unchecked Sendable {
    // @unchecked: every property below is touched on `queue` only.

    /// What the watcher says.
    package struct Listener: Sendable {
        /// The listing changed. `isInitial`: the first full listing since the start.
        package var changed: @Sendable (_ changes: [InboxChange], _ isInitial: Bool) -> Void
        /// A full scan is over, whether anything was different or not.
        package var scanned: @Sendable () -> Void
        /// The way of watching, at the start and when it changes, with the reason where it is not by events.
        package var watching: @Sendable (WatchMode, _ reason: String?) -> Void
        /// The inbox cannot be read; said once until it can.
        package var failed: @Sendable (IOError) -> Void

        /// A listener.
        package init(
            changed: @escaping @Sendable (_ changes: [InboxChange], _ isInitial: Bool) -> Void,
            scanned: @escaping @Sendable () -> Void = {},
            watching: @escaping @Sendable (WatchMode, _ reason: String?) -> Void,
            failed: @escaping @Sendable (IOError) -> Void
        ) {
            self.changed = changed
            self.scanned = scanned
            self.watching = watching
            self.failed = failed
        }
    }

    /// How often things are done.
    package struct Pace: Sendable {
        /// Between full scans while events arrive.
        package var rescan: Duration = .seconds(60)
        /// Between full scans without events.
        package var poll: Duration = .seconds(2)
        /// Between looks at the clocks for an absence.
        package var pulse: Duration = .seconds(5)

        /// The paces of the contract.
        package init() {}
    }

    private let inbox: FilePath
    private let inotify: InotifyEvents?
    private let queue: DispatchQueue
    private let interest: @Sendable (FileName) -> Bool
    private let listener: Listener
    private let pace: Pace

    private var listing = InboxScan()
    private var watch: InotifyEvents.Watch?
    private var mode: WatchMode?
    private var timer: (any DispatchSourceTimer)?
    private var absence = AbsenceDetector(pulse: .zero, starting: .now())
    private var lastScan = MonotonicTime(nanoseconds: 0)
    private var isRunning = false
    private var hasFailed = false

    /// A watcher that is not started. `inotify`: nil where the kernel gave none; `interest`: which names matter at all.
    package init(
        inbox: FilePath, inotify: InotifyEvents?, queue: DispatchQueue, pace: Pace = Pace(),
        interest: @escaping @Sendable (FileName) -> Bool, listener: Listener
    ) {
        self.inbox = inbox
        self.inotify = inotify
        self.queue = queue
        self.pace = pace
        self.interest = interest
        self.listener = listener
    }

    /// How the inbox is watched now; nil when stopped.
    package var watching: WatchMode? {
        dispatchPrecondition(condition: .onQueue(queue))
        return mode
    }

    /// Begins to watch and scans at once. When it runs already, nothing happens.
    package func start() {
        dispatchPrecondition(condition: .onQueue(queue))
        guard !isRunning else { return }
        isRunning = true
        hasFailed = false
        listing.reset()
        arm()
        scan(isInitial: true)
        startTimer()
    }

    /// Stops watching and lets go of everything. When it is stopped already, nothing happens.
    package func stop() {
        dispatchPrecondition(condition: .onQueue(queue))
        guard isRunning else { return }
        isRunning = false
        mode = nil
        disarm()
        timer?.cancel()
        timer = nil
    }

    /// The name was taken out of the inbox by us: its vanishing is no news.
    package func took(_ path: DropPath) {
        dispatchPrecondition(condition: .onQueue(queue))
        listing.remove(path)
    }

    /// Lists the inbox and tells what is different.
    package func scan(isInitial: Bool = false) {
        dispatchPrecondition(condition: .onQueue(queue))
        guard isRunning else { return }
        lastScan = .now()
        var changes: [InboxChange] = []
        do throws(IOError) {
            listing.begin()
            let folder = try OpenFile.open(inbox, O_RDONLY | O_DIRECTORY)
            try Folder.forEachEntry(of: folder) { (name, _) throws(IOError) in
                if interest(name), listing.saw(DropPath(name)) { changes.append(.appeared(DropPath(name))) }
            }
            // Only a listing that was read to its end says that a name is gone.
            changes += listing.end().map { .vanished($0) }
            hasFailed = false
        } catch {
            if !hasFailed { listener.failed(error) }
            hasFailed = true
        }
        if !changes.isEmpty || isInitial { listener.changed(changes, isInitial) }
        if !isInitial { listener.scanned() }
    }

    // MARK: Events

    private func arm() {
        if case .network(let name) = FileSystemKind.of(inbox) {
            return poll(because: "a \(name) file system gives no events for changes made elsewhere")
        }
        guard let inotify else {
            return poll(
                because:
                    "inotify could not be opened; raise fs.inotify.max_user_instances (see sysctl) or the limit of "
                    + "open files"
            )
        }
        do throws(IOError) {
            watch = try inotify.watch(inbox) { @Sendable [weak self] events in
                guard let self else { return }
                queue.async { @Sendable in self.take(events) }
            }
            set(.events, because: nil)
        } catch {
            let limit = error.errno == .noSpace
            poll(
                because: limit
                    ? "the limit of watches is reached; raise fs.inotify.max_user_watches (see sysctl)" : "\(error)")
        }
    }

    private func disarm() {
        if let watch { inotify?.end(watch) }
        watch = nil
    }

    private func poll(because reason: String) { set(.polling(every: pace.poll), because: reason) }

    private func set(_ mode: WatchMode, because reason: String?) {
        guard mode != self.mode else { return }
        self.mode = mode
        if timer != nil { startTimer() }
        listener.watching(mode, reason)
    }

    private func take(_ events: [FolderEvent]) {
        guard isRunning, watch != nil else { return }
        var changes: [InboxChange] = []
        var mustScan = false
        for event in events {
            switch event {
            case .appeared(let name), .touched(let name), .vanished(let name):
                if interest(name), let change = listing.take(event) { changes.append(change) }
            case .uncertain(.overflow): mustScan = true
            case .uncertain(.folderGone):
                disarm()
                arm()
                mustScan = true
            }
        }
        if !changes.isEmpty { listener.changed(changes, false) }
        if mustScan { scan() }
    }

    // MARK: Timer

    private func startTimer() {
        timer?.cancel()
        let timer = DispatchSource.makeTimerSource(queue: queue)
        let interval = mode == .events ? pace.pulse : min(pace.pulse, pace.poll)
        absence = AbsenceDetector(pulse: interval, starting: .now())
        let nanoseconds = Int(interval.nanoseconds)
        timer.schedule(
            deadline: .now() + .nanoseconds(nanoseconds), repeating: .nanoseconds(nanoseconds),
            leeway: .nanoseconds(nanoseconds / 20))
        timer.setEventHandler { @Sendable [weak self] in self?.pulse() }
        timer.activate()
        self.timer = timer
    }

    private func pulse() {
        guard isRunning else { return }
        let wasAway = absence.wasAway(.now())
        // A folder that was gone, or a limit that was reached, may have come right; nothing is said where it has not.
        let wasBlind = watch == nil
        if wasBlind { arm() }
        let pause = mode == .events && watch != nil ? pace.rescan : pace.poll
        // Nothing was heard of what came before the watch was there.
        let sees = wasBlind && watch != nil
        if wasAway || sees || .now() - lastScan >= pause { scan() }
    }
}
