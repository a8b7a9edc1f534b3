#if os(Linux)
    package import Files
    import Platform
    import Synchronization
    import SystemPackage

    /// One inotify descriptor, which one thread reads.
    package final class InotifyEvents: FolderEvents {
        private typealias Handler = @Sendable ([WatchEvent]) -> Void

        private struct State {
            var handlers: [Subscriber: Handler] = [:]
            /// Who watches what: mostly one, but folders may be shared.
            var owners: [Int32: [Subscriber]] = [:]
            var lastNumber = 0
            /// As many watches as there may be here; the kernel's own limit holds for all processes of a user, so tests
            /// have this one.
            var mostWatches = Int.max
            var isStopped = false
        }

        private let reader: InotifyReader
        private var descriptor: Int32 { reader.descriptor }
        private let state = Mutex(State())

        /// What is listened to. A hard link gives CREATE only, `mv` MOVED_TO only, a memory-mapped writer CLOSE_WRITE
        /// at its last unmap (measured).
        private static let mask = UInt32(
            IN_CREATE | IN_MOVED_TO | IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB | IN_MOVED_FROM | IN_DELETE
                | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)

        /// Opens the descriptor and begins to read. Throws where the user's limit of instances is reached
        /// (fs.inotify.max_user_instances) or the process has no descriptor left.
        package init() throws(IOError) {
            reader = try InotifyReader()
            do throws(IOError) {
                try reader.start { @Sendable [weak self] buffer in self?.deliver(buffer) }
            } catch {
                // There is no thread whose end could be waited for.
                state.withLock { $0.isStopped = true }
                throw error
            }
        }

        deinit { stop() }

        package var lack: String? { nil }
        package var tellsOfWrites: Bool { true }

        package func stop() {
            let isFirst = state.withLock { state in
                state.handlers = [:]
                state.owners = [:]
                defer { state.isStopped = true }
                return !state.isStopped
            }
            if isFirst { reader.stop() }
        }

        package func subscribe(isSharing: Bool, _ handler: @escaping @Sendable ([WatchEvent]) -> Void) -> Subscriber {
            state.withLock { state in
                state.lastNumber += 1
                let subscriber = Subscriber(number: state.lastNumber, isSharing: isSharing)
                state.handlers[subscriber] = handler
                return subscriber
            }
        }

        package func unsubscribe(_ subscriber: Subscriber) {
            state.withLock { state in
                state.handlers[subscriber] = nil
                for (watch, owners) in state.owners where owners.contains(subscriber) {
                    disown(watch, subscriber, &state)
                }
            }
        }

        /// The kernel has one watch for a folder, also where there are several ways to it (bind mounts).
        package func watch(_ folder: borrowing OpenFile, for subscriber: Subscriber) throws(IOError) -> Watch {
            let path = "/proc/self/fd/\(folder.descriptor)"
            // Within the lock, so that no event is read before its owner is known.
            let result: Result<Watch, Errno> = state.withLock { state in
                guard !state.isStopped else { return .failure(.badFileDescriptor) }
                guard state.owners.count < state.mostWatches else { return .failure(.noSpace) }
                let watch = inotify_add_watch(descriptor, path, Self.mask)
                guard watch >= 0 else { return .failure(.last) }
                let owners = state.owners[watch] ?? []
                if !owners.contains(subscriber) {
                    guard owners.isEmpty || subscriber.isSharing && owners.allSatisfy(\.isSharing) else {
                        return .failure(.fileExists)
                    }
                    state.owners[watch] = owners + [subscriber]
                }
                return .success(Watch(number: Int(watch)))
            }
            switch result {
            case .success(let watch): return watch
            case .failure(let errno): throw IOError("watch", folder.path, errno)
            }
        }

        package func end(_ watch: Watch, of subscriber: Subscriber) {
            state.withLock { state in
                if !state.isStopped { disown(Int32(watch.number), subscriber, &state) }
            }
        }

        private func disown(_ watch: Int32, _ subscriber: Subscriber, _ state: inout State) {
            guard var owners = state.owners.removeValue(forKey: watch) else { return }
            owners.removeAll { $0 == subscriber }
            guard owners.isEmpty else {
                state.owners[watch] = owners
                return
            }
            // Fails only where the kernel ended the watch itself, which is as good.
            _ = inotify_rm_watch(descriptor, watch)
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
            var batches: [[WatchEvent]] = []
            func add(_ event: WatchEvent, for subscriber: Subscriber) {
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
                } else if let owners = owners[header.wd], let event = Self.event(header.mask, FileName(name)) {
                    for owner in owners { add(.of(Watch(number: Int(header.wd)), event), for: owner) }
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
#endif
