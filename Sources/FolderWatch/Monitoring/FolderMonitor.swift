@preconcurrency public import Dispatch
import Files
public import SystemPackage

/// Watches one folder and tells any number of listeners what was inserted into it, deleted from it and changed in it.
///
/// The kernel's events make it quick; listing the folder again makes it sure: at the start, every minute, and after
/// lost events, sleep or an absence of the folder. What a listener is told, added up, is always the folder's listing.
///
/// A monitor that is not running holds no descriptor and no thread. All monitors of a process share one inotify
/// instance (or kqueue).
public final class FolderMonitor: Sendable {
    private let core: MonitorCore
    private let queue: DispatchQueue?

    /// A monitor that has not been started.
    ///
    /// - Parameters:
    ///   - folder: The folder; a relative path begins in the folder that is the current one now. A symbolic link on the
    ///     way is followed if it belongs to root or to the user of this process.
    ///   - options: What is watched, and how often is looked.
    ///   - queue: Where listeners are called; nil: each on a queue of its own, so that one that blocks holds up no
    ///     other.
    public init(_ folder: FilePath, options: Options = Options(), queue: DispatchQueue? = nil) {
        core = MonitorCore(folder.isEmpty ? folder : folder.absolute, options)
        self.queue = queue
    }

    deinit { core.stop(isForGood: true) }

    /// The folder.
    public var folder: FilePath { core.folder }

    /// Begins to watch, and lists the folder before it returns. Does nothing where it runs already.
    ///
    /// - Throws: `WatchError` where the folder is not there, is no folder, or cannot be read. It does not run then.
    public func start() throws(WatchError) {
        if let error = core.start() { throw error }
    }

    /// Ends watching. When this returns, no descriptor is open, so that nothing keeps a volume from being unmounted.
    /// Iterations of `differences` and `states` end; listeners stay, and are told what differs if it is started again.
    /// A listener may call it.
    public func stop() { core.stop(isForGood: false) }

    /// Starts again, as a stop and a start do, but iterations go on. Where it throws, the monitor is stopped.
    ///
    /// - Throws: `WatchError` as `start` does.
    public func restart() throws(WatchError) {
        if let error = core.restart() { throw error }
    }

    /// Whether it runs, be the folder there or not.
    public var isRunning: Bool { core.sync { $0.isRunning } }

    /// What the folder held when it was looked at last, by name bytes; nothing while it does not run.
    public var contents: [FolderEntry] { core.sync { $0.contents } }

    /// How the folder is watched now.
    public var state: State { core.sync { $0.state } }

    /// Tells a listener of each difference, first of all that is there (`isInitial`). While it is at work, what comes
    /// is merged to one difference.
    ///
    /// - Returns: What the listener listens for as long as it is kept.
    public func addListener(_ body: @escaping @Sendable (FolderDifference) -> Void) -> Listening {
        let outbox = Outbox<PendingDifference>(on: listenerQueue, body)
        core.add(outbox)
        return Listening(outbox)
    }

    /// Tells a listener how the folder is watched, now and whenever that changes.
    ///
    /// - Returns: What the listener listens for as long as it is kept.
    public func addStateListener(_ body: @escaping @Sendable (State) -> Void) -> Listening {
        let outbox = Outbox<Latest<State>>(on: listenerQueue, body)
        core.add(outbox)
        return Listening(outbox)
    }

    /// The differences, from an initial one on; each iteration is a listener of its own. It ends when the monitor is
    /// stopped or released, or when its task is cancelled.
    public var differences: some AsyncSequence<FolderDifference, Never> & Sendable {
        Tellings<PendingDifference> { @Sendable [core] outbox in core.add(outbox) }
    }

    /// How the folder is watched, now and whenever that changes; ends as `differences` do.
    public var states: some AsyncSequence<State, Never> & Sendable {
        Tellings<Latest<State>> { @Sendable [core] outbox in core.add(outbox) }
    }

    private var listenerQueue: DispatchQueue { queue ?? DispatchQueue(label: "dropmill.monitor.listener") }

    // MARK: For those who build on a monitor

    func listen(_ outbox: Outbox<PendingDifference>) { core.add(outbox) }

    /// Lists the folder now, whatever was heard of it; what differs is told. What it holds, by name bytes; nil where it
    /// cannot be listed.
    func look() -> [FolderEntry]? { core.sync { $0.look() } }

    /// What is there now under these names; nil where that cannot be looked at. Nobody is told.
    func look(at names: [FileName]) -> [FileName: FolderEntry]? { core.sync { $0.look(at: names) } }
}

extension FolderMonitor {
    /// What is watched, and how often is looked: with at least 10 ms between two looks.
    public struct Options: Sendable {
        /// Which names there are; nil: all. Called on a queue of the monitor: it has to be quick, and must not ask the
        /// monitor.
        public var isIncluded: (@Sendable (FilePath.Component) -> Bool)?
        /// Between two listings while events come: they find what no event tells of, such as writes through another
        /// hard link.
        public var rescan: Duration = .seconds(60)
        /// Between two listings where the kernel tells nothing: on network file systems, beyond its limits.
        public var poll: Duration = .seconds(2)
        /// Between two looks whether the folder still is what its path leads to, or is there again.
        public var pulse: Duration = .seconds(5)

        /// Where events come from.
        package var events = SystemEvents.Kind.system
        /// How many files are watched one by one where the events of a folder do not tell of writes into its files.
        public var mostWatchedFiles = 256
        /// The one name that is watched; nil: all that are included.
        var only: FileName?

        /// All names, looked at as the properties say.
        public init() {}
    }

    /// How a folder is watched. There may be more cases one day.
    public enum State: Sendable, Equatable {
        /// Not at all.
        case stopped
        /// The kernel tells of changes.
        case events
        /// It is listed again and again: how often, and why.
        case polling(every: Duration, because: String)
        /// It cannot be looked at now; what it held counts as being there until it is back.
        case away(WatchError)
    }
}
