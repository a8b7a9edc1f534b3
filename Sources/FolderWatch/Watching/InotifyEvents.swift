package import Files
import Platform
import Synchronization
import SystemPackage

/// One inotify descriptor for the whole daemon, which one thread reads. Each subscriber watches any number of
/// folders and receives all events in the kernel's order, since moves between folders depend on it.
package final class InotifyEvents: Sendable {
    /// One subscriber.
    package struct Subscriber: Hashable, Sendable {
        fileprivate let number: Int
    }

    /// A watched folder.
    package struct Watch: Hashable, Sendable {
        fileprivate let descriptor: Int32
    }

    /// What a subscriber receives.
    package enum Event: Sendable, Equatable {
        /// Something happened to a folder.
        case folder(Watch, FolderEvent)
        /// The kernel's queue overflowed and events are lost: only a scan shows what happened.
        case overflow
    }

    package typealias Handler = @Sendable ([Event]) -> Void

    private struct State {
        var handlers: [Subscriber: Handler] = [:]
        var owners: [Int32: Subscriber] = [:]
        var lastNumber = 0
        /// As many watches as there may be here; the kernel's own limit holds for all processes of a user, so tests
        /// have this one.
        var mostWatches = Int.max
        var isStopped = false
    }

    private let reader: InotifyReader
    private var descriptor: Int32 { reader.descriptor }
    private let state = Mutex(State())

    /// What is listened to. A hard link gives CREATE only, `mv` MOVED_TO only, a memory-mapped writer CLOSE_WRITE at
    /// its last unmap (measured).
    private static let mask = UInt32(
        IN_CREATE | IN_MOVED_TO | IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB | IN_MOVED_FROM | IN_DELETE | IN_DELETE_SELF
            | IN_MOVE_SELF | IN_ONLYDIR)

    /// Opens the descriptor and begins to read. Throws where the user's limit of instances is reached
    /// (fs.inotify.max_user_instances) or the process has no descriptor left.
    package init() throws(IOError) {
        reader = try InotifyReader()
        try reader.start { @Sendable [weak self] buffer in self?.deliver(buffer) }
    }

    deinit { stop() }

    /// Ends all watches and closes the descriptor. Calling it again does nothing.
    package func stop() {
        let isFirst = state.withLock { state in
            state.handlers = [:]
            state.owners = [:]
            defer { state.isStopped = true }
            return !state.isStopped
        }
        if isFirst { reader.stop() }
    }

    /// Adds a subscriber; the handler is called on a queue of this object.
    package func subscribe(_ handler: @escaping Handler) -> Subscriber {
        state.withLock { state in
            state.lastNumber += 1
            let subscriber = Subscriber(number: state.lastNumber)
            state.handlers[subscriber] = handler
            return subscriber
        }
    }

    /// Forgets a subscriber, whose watches should have ended.
    package func unsubscribe(_ subscriber: Subscriber) { state.withLock { $0.handlers[subscriber] = nil } }

    /// Watches a folder that is open: this very one, whatever has its name by now. One that is watched already keeps
    /// its watch. Throws EEXIST if another subscriber watches it under another path to it (a bind mount), since the
    /// kernel has one watch for both; ENOSPC where the user's limit of watches is reached
    /// (fs.inotify.max_user_watches).
    package func watch(_ folder: borrowing OpenFile, for subscriber: Subscriber) throws(IOError) -> Watch {
        let path = "/proc/self/fd/\(folder.descriptor)"
        // Within the lock, so that no event is read before its owner is known.
        let result: Result<Watch, Errno> = state.withLock { state in
            guard !state.isStopped else { return .failure(.badFileDescriptor) }
            guard state.owners.count < state.mostWatches else { return .failure(.noSpace) }
            let watch = inotify_add_watch(descriptor, path, Self.mask)
            guard watch >= 0 else { return .failure(.last) }
            guard state.owners[watch] ?? subscriber == subscriber else { return .failure(.fileExists) }
            state.owners[watch] = subscriber
            return .success(Watch(descriptor: watch))
        }
        switch result {
        case .success(let watch): return watch
        case .failure(let errno): throw IOError("watch", folder.path, errno)
        }
    }

    /// Ends one watch; its events are no longer delivered.
    package func end(_ watch: Watch) {
        state.withLock { state in
            guard !state.isStopped, state.owners.removeValue(forKey: watch.descriptor) != nil else { return }
            // Fails only where the kernel ended the watch itself, which is as good.
            _ = inotify_rm_watch(descriptor, watch.descriptor)
        }
    }

    /// Has `watch` fail as where the kernel's limit is reached: for tests.
    func limit(toWatches most: Int) { state.withLock { $0.mostWatches = most } }

    /// Runs the body while nothing is read: for tests.
    func whileNotReading(_ body: @escaping @Sendable () -> Void) { reader.whileNotReading(body) }

    /// How often something was read: for tests.
    var reads: Int { reader.reads.load(ordering: .relaxed) }

    private func deliver(_ buffer: UnsafeRawBufferPointer) {
        let (handlers, owners) = state.withLock { ($0.handlers, $0.owners) }
        // Few subscribers have events at a time, mostly one.
        var subscribers: [Subscriber] = []
        var batches: [[Event]] = []
        func add(_ event: Event, for subscriber: Subscriber) {
            if let number = subscribers.lastIndex(of: subscriber) { return batches[number].append(event) }
            subscribers.append(subscriber)
            batches.append([event])
        }
        var offset = 0
        let headerSize = MemoryLayout<inotify_event>.size
        while offset + headerSize <= buffer.count {
            let header = buffer.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
            let nameEnd = min(buffer.count, offset + headerSize + Int(header.len))
            let name = buffer[(offset + headerSize)..<nameEnd].prefix { $0 != 0 }
            offset = nameEnd
            if header.mask & UInt32(IN_Q_OVERFLOW) != 0 {
                for subscriber in handlers.keys { add(.overflow, for: subscriber) }
            } else if let owner = owners[header.wd], let event = Self.event(header.mask, FileName(name)) {
                add(.folder(Watch(descriptor: header.wd), event), for: owner)
            }
            if header.mask & UInt32(IN_IGNORED) != 0 { state.withLock { $0.owners[header.wd] = nil } }
        }
        for (subscriber, events) in zip(subscribers, batches) { handlers[subscriber]?(events) }
    }

    private static func event(_ mask: UInt32, _ name: FileName?) -> FolderEvent? {
        if mask & UInt32(IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_IGNORED) != 0 { return .gone }
        guard let name else { return mask & UInt32(IN_ATTRIB) == 0 ? nil : .rightsChanged }
        let isFolder = mask & UInt32(IN_ISDIR) != 0
        if mask & UInt32(IN_CREATE | IN_MOVED_TO) != 0 { return .appeared(name, isFolder: isFolder) }
        if mask & UInt32(IN_MOVED_FROM | IN_DELETE) != 0 { return .vanished(name, isFolder: isFolder) }
        return .touched(name, isFolder: isFolder)
    }
}
