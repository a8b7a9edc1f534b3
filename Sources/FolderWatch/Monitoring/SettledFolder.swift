@preconcurrency public import Dispatch
public import SystemPackage

/// Watches one folder and tells when it has come to rest: each file once it stood still, and the whole folder once
/// looks at all that it holds agree.
///
/// Senders that copy many files, or large ones, are waited for. A change starts the wait again, and so does what is
/// found after sleep or an absence of the folder.
public final class SettledFolder: Sendable {
    private let core: SettledCore
    private let queue: DispatchQueue?

    /// One that has not been started.
    ///
    /// - Parameters:
    ///   - folder: The folder, as for `FolderMonitor`.
    ///   - options: How long it has to stand still, and what is watched.
    ///   - queue: Where listeners are called; nil: each on a queue of its own.
    public init(_ folder: FilePath, options: Options = Options(), queue: DispatchQueue? = nil) {
        core = SettledCore(FolderMonitor(folder, options: options.monitor), options)
        self.queue = queue
    }

    deinit { core.stop(isForGood: true) }

    /// The folder.
    public var folder: FilePath { core.monitor.folder }

    /// Begins to watch. Does nothing where it runs already.
    ///
    /// - Throws: `WatchError` where the folder is not there, is no folder, or cannot be read. It does not run then.
    public func start() throws(WatchError) {
        if let error = core.begin() { throw error }
    }

    /// Ends watching. When this returns, no descriptor is open. Iterations of `events` end; listeners stay. A
    /// listener may call it.
    public func stop() { core.stop(isForGood: false) }

    /// Starts again, as a stop and a start do, but iterations go on.
    ///
    /// - Throws: `WatchError` as `start` does.
    public func restart() throws(WatchError) {
        if let error = core.begin(again: true) { throw error }
    }

    /// Whether it runs, be the folder there or not.
    public var isRunning: Bool { core.monitor.isRunning }

    /// How the folder is watched now.
    public var state: FolderMonitor.State { core.monitor.state }

    /// Tells a listener what has come to rest from now on, and first what has already. What comes while it is at work
    /// waits; what changes meanwhile is not told.
    ///
    /// - Returns: What the listener listens for as long as it is kept.
    public func addListener(_ body: @escaping @Sendable (Event) -> Void) -> Listening {
        let outbox = Outbox<SettledNews>(on: queue ?? DispatchQueue(label: "dropmill.settled.listener"), body)
        core.add(outbox)
        return Listening(outbox)
    }

    /// The same as a sequence; each iteration is a listener of its own. It ends when this is stopped or released, or
    /// when its task is cancelled.
    public var events: some AsyncSequence<Event, Never> & Sendable {
        Tellings<SettledNews> { @Sendable [core] outbox in core.add(outbox) }
    }
}

extension SettledFolder {
    /// What has come to rest. There may be more cases one day.
    public enum Event: Sendable, Hashable {
        /// This stood still, as it is told here, for as long as the looks at a folder take: for `quiet` where two have
        /// to agree. Empty files are waited for five times as long, since many are made some time before they are
        /// filled.
        case settled(FolderEntry)
        /// The whole folder: `samples` looks, `quiet` apart, saw the same of all it holds, which is told here by name
        /// bytes. It comes after its files, but for empty ones.
        case settledFolder([FolderEntry])
    }

    /// What has to stand still.
    public enum Precision: Sendable {
        /// Names, kinds, sizes, times and inodes.
        case full
        /// Names and sizes alone: a file that is replaced by one of its size counts as the same.
        case seed
    }

    /// How long it has to stand still.
    public struct Options: Sendable {
        /// Between two looks; at most a million seconds.
        public var quiet: Duration = .seconds(1)
        /// How many looks have to agree: 2 to 1000.
        public var samples = 2
        /// What has to be the same.
        public var precision = Precision.full
        /// What is watched, and how often it is looked at besides.
        public var monitor = FolderMonitor.Options()

        /// Two looks a second apart at everything.
        public init() {}
    }
}
