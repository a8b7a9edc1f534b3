@preconcurrency import Dispatch
import Files
import SystemPackage

/// What a follower does: the monitor of the folder says that the file may have changed, and every reader looks.
actor FollowCore: QueueActor {
    nonisolated let executor = QueueExecutor(label: "dropmill.follower")
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    nonisolated let file: FilePath
    private nonisolated let name: FileName
    nonisolated let monitor: FolderMonitor
    private nonisolated let start: FileFollower.Start
    private nonisolated let longestLine: Int

    private struct Reader {
        let cursor: FollowCursor
        let signal: Outbox<Latest<Void>>
    }

    private var readers: [Reader] = []
    private var troubles: [Outbox<Latest<WatchError>>] = []
    /// What was told of last, and has not passed.
    private var trouble: IOError?
    private var isRetryAsked = false
    private var hasEnded = false

    /// Until a file that could not be read is tried again.
    private static let retryPause = Duration.seconds(1)

    init(_ file: FilePath, _ start: FileFollower.Start, _ options: FileFollower.Options) {
        self.file = file
        // The root has none, and is no regular file.
        name = file.lastName ?? FileName(unchecked: Array("/".utf8))
        self.start = start
        longestLine = options.longestLine
        var watching = options.monitor
        watching.only = name
        monitor = FolderMonitor(file.removingLastComponent(), options: watching)
        monitor.listen(
            Outbox<PendingDifference>(on: executor.queue) { @Sendable [weak self] _ in
                self?.assumeIsolated { $0.look() }
            })
    }

    // MARK: Starting and stopping

    /// Begins to follow; why that is not possible.
    nonisolated func begin() -> WatchError? {
        sync { core in
            let kind = FileStatus.of(core.file).map { FileKind(mode: $0.st_mode) }
            guard core.file.lastName != nil, kind == nil || kind == .regular else {
                return .io(IOError("follow", core.file, .invalidArgument))
            }
            do throws(WatchError) { try core.monitor.start() } catch { return error }
            // What is there before this returns is what "the end" means.
            core.readers.forEach { $0.cursor.open() }
            core.look()
            return nil
        }
    }

    nonisolated func stop(isForGood: Bool) {
        syncUnlessCurrent { core in
            core.monitor.stop()
            core.hasEnded = isForGood
            core.trouble = nil
            for reader in core.readers {
                reader.cursor.close()
                if isForGood || reader.signal.isOfTask { reader.signal.end() }
            }
            core.readers.removeAll(where: \.signal.isEnded)
            if isForGood { core.troubles.forEach { $0.end() } }
        }
    }

    // MARK: Readers

    /// A new reader at the beginning of what is to be told.
    nonisolated func cursor() -> FollowCursor {
        let reader = FollowReader(name, in: file.removingLastComponent(), from: start)
        return FollowCursor(reader, longestLine: longestLine) { @Sendable [weak self] error in
            self?.enqueue { $0.report(error) }
        }
    }

    /// Has a reader look now, and whenever there may be something.
    nonisolated func add(_ cursor: FollowCursor, _ signal: Outbox<Latest<Void>>) {
        sync { core in
            guard !core.hasEnded else { return signal.end() }
            core.readers.removeAll(where: \.signal.isEnded)
            core.readers.append(Reader(cursor: cursor, signal: signal))
            if core.monitor.isRunning { cursor.open() }
            signal.add { $0.note(()) }
        }
    }

    /// Calls a listener with all that a reader finds.
    nonisolated func listen<Told>(
        on queue: DispatchQueue, _ next: @escaping @Sendable (FollowCursor) -> Told?,
        body: @escaping @Sendable (Told) -> Void
    ) -> Listening {
        let cursor = cursor()
        let signal = Outbox<Latest<Void>>(
            on: queue,
            withOutbox: { @Sendable _, signal in
                guard let told = next(cursor) else { return }
                body(told)
                signal.add { $0.note(()) }
            })
        add(cursor, signal)
        return Listening { @Sendable in
            signal.end()
            cursor.end()
        }
    }

    private func look() {
        readers.removeAll(where: \.signal.isEnded)
        for reader in readers { reader.signal.add { $0.note(()) } }
    }

    // MARK: Trouble

    nonisolated func add(_ outbox: Outbox<Latest<WatchError>>) {
        enqueue { core in
            core.troubles.removeAll(where: \.isEnded)
            core.troubles.append(outbox)
            if let trouble = core.trouble { outbox.add { $0.note(.io(trouble)) } }
        }
    }

    private func report(_ error: IOError) {
        retryLater()
        // Other readers meet with the same.
        guard error != trouble else { return }
        trouble = error
        troubles.removeAll(where: \.isEnded)
        for outbox in troubles { outbox.add { $0.note(.io(error)) } }
    }

    private func retryLater() {
        guard !isRetryAsked else { return }
        isRetryAsked = true
        enqueue(after: Self.retryPause) { core in
            core.isRetryAsked = false
            guard core.readers.contains(where: \.cursor.isInTrouble) else {
                core.trouble = nil
                return
            }
            core.look()
            core.retryLater()
        }
    }
}
