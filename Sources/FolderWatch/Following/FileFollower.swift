@preconcurrency public import Dispatch
import Files
public import SystemPackage

/// Follows one file: tells what is appended to it, as bytes or as lines.
///
/// It survives truncation, replacement (by editors, by log rotation) and absence. What is left of the old file is told
/// first, then the new one from its beginning, as soon as there is something in it; a removed file stays open until
/// then. `FollowCheckpoint` says where to go on in another process.
///
/// Each listener and each iteration reads the file for itself, and reads on once it has dealt with what it was told: a
/// slow one holds up no other and costs no memory. What is gone before it is read is not told: what was cut off, and
/// a file that came and went between two looks, or while a listener was at work.
public final class FileFollower: Sendable {
    private let core: FollowCore
    private let queue: DispatchQueue?

    /// Where to begin.
    public enum Start: Sendable, Hashable {
        /// At the beginning of the file.
        case start
        /// At its end as it is when the follower is started, or the listener or iteration is added to one that runs. Of
        /// a file that comes later all is told.
        case end
        /// Where an earlier follower was. If the file was renamed within its folder since, the rest of it is told
        /// first; if it is not to be found, the file that has the name now is told from its beginning (`isReopened`).
        case checkpoint(FollowCheckpoint)
    }

    /// How a file is followed.
    public struct Options: Sendable {
        /// The longest line, in bytes; a longer one is told in parts.
        public var longestLine = 1 << 20
        /// How the folder that holds the file is watched; `isIncluded` is not asked.
        public var monitor = FolderMonitor.Options()

        /// Lines of up to 1 MiB.
        public init() {}
    }

    /// A follower that has not been started.
    ///
    /// - Parameters:
    ///   - file: The file, which need not be there yet; not a symbolic link.
    ///   - start: Where to begin.
    ///   - options: How it is followed.
    ///   - queue: Where the file is read for listeners and they are called; nil: each on a queue of its own.
    public init(_ file: FilePath, from start: Start = .end, options: Options = Options(), queue: DispatchQueue? = nil) {
        core = FollowCore(file.absolute, start, options)
        self.queue = queue
    }

    deinit { core.stop(isForGood: true) }

    /// The file.
    public var file: FilePath { core.file }

    /// Begins to follow. Does nothing where it runs already.
    ///
    /// - Throws: `WatchError` where the folder is not there or cannot be read, or where the file is no regular file. It
    ///   does not run then.
    public func start() throws(WatchError) {
        if let error = core.begin() { throw error }
    }

    /// Ends following. When this returns, no descriptor is open. Iterations end; listeners stay, and go on from where
    /// they were if it is started again. A listener may call it.
    public func stop() { core.stop(isForGood: false) }

    /// Whether it runs, be the file there or not.
    public var isRunning: Bool { core.monitor.isRunning }

    /// How the folder that holds the file is watched now.
    public var state: FolderMonitor.State { core.monitor.state }

    /// Tells a listener of bytes that are appended, in the order of the file.
    ///
    /// - Returns: What the listener listens for as long as it is kept.
    public func addListener(_ body: @escaping @Sendable (FollowedBytes) -> Void) -> Listening {
        core.listen(on: listenerQueue, { $0.nextBytes() }, body: body)
    }

    /// Tells a listener of lines that are appended, each once its end has come.
    ///
    /// - Returns: What the listener listens for as long as it is kept.
    public func addLineListener(_ body: @escaping @Sendable (FollowedLine) -> Void) -> Listening {
        core.listen(on: listenerQueue, { $0.nextLine() }, body: body)
    }

    /// Tells a listener why the file cannot be read: once, though it is tried again every second until it can be. That
    /// it is absent is no trouble.
    ///
    /// - Returns: What the listener listens for as long as it is kept.
    public func addTroubleListener(_ body: @escaping @Sendable (WatchError) -> Void) -> Listening {
        let outbox = Outbox<Latest<WatchError>>(on: listenerQueue, body)
        core.add(outbox)
        return Listening(outbox)
    }

    /// Bytes that are appended; each iteration reads for itself. It ends when the follower is stopped or released, or
    /// when its task is cancelled.
    public var bytes: some AsyncSequence<FollowedBytes, Never> & Sendable {
        FollowSequence(core: core) { $0.nextBytes() }
    }

    /// Lines that are appended; each iteration reads for itself. It ends when the follower is stopped or released, or
    /// when its task is cancelled.
    public var lines: some AsyncSequence<FollowedLine, Never> & Sendable {
        FollowSequence(core: core) { $0.nextLine() }
    }

    private var listenerQueue: DispatchQueue { queue ?? DispatchQueue(label: "dropmill.follower.listener") }
}
