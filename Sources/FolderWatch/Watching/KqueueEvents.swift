#if canImport(Darwin) || os(FreeBSD) || os(OpenBSD) || DROPMILL_KQUEUE
    import CKqueue
    package import Files
    import Platform
    import Synchronization
    import SystemPackage

    // `kevent` is a function too.
    private typealias KernelEvent = kevent

    /// One kqueue, at which one thread waits.
    ///
    /// It says of a folder only that its names changed, and nothing of writes into its files: those are watched one by
    /// one. Each watch takes a descriptor, of which a process may have few (`ulimit -n`).
    package final class KqueueEvents: FolderEvents {
        private typealias Handler = @Sendable ([WatchEvent]) -> Void

        private struct Watched {
            let subscriber: Subscriber
            let identity: FileIdentity
            let isFolder: Bool
            let descriptor: Int32
        }

        private struct State {
            var handlers: [Subscriber: Handler] = [:]
            /// By the numbers that the kernel gives back with their events. No number comes again, as those of
            /// descriptors do: an event of a watch that has ended is nobody's.
            var watches: [Int: Watched] = [:]
            var numbers: [FileIdentity: [Int]] = [:]
            var lastNumber = 0
            /// Until its thread has begun there is no end of it that could be waited for.
            var isStopped = true
        }

        private let queue: Int32
        private let thread = EventThread(named: "dropmill.events")
        private let state = Mutex(State())

        /// What is listened to.
        private static let notes =
            NOTE_WRITE | NOTE_EXTEND | NOTE_ATTRIB | NOTE_LINK | NOTE_RENAME | NOTE_DELETE | NOTE_REVOKE

        /// Opens the queue and begins to wait. Throws where the process has no descriptor left.
        package init() throws(IOError) {
            queue = kqueue()
            guard queue >= 0 else { throw IOError("open", "kqueue", .last) }
            _ = fcntl(queue, F_SETFD, FD_CLOEXEC)
            do throws(Errno) {
                try Self.change(queue, Self.end(EV_ADD | EV_CLEAR))
                try thread.start { @Sendable [weak self, queue] in
                    Self.wait(for: queue) { self?.deliver($0) }
                    // Only here: until then the number is not another's.
                    close(queue)
                }
            } catch {
                close(queue)
                throw IOError("wait for", "kqueue", error)
            }
            state.withLock { $0.isStopped = false }
        }

        deinit { stop() }

        package var lack: String? { nil }
        package var tellsOfWrites: Bool { false }

        package func stop() {
            let isFirst = state.withLock { state in
                guard !state.isStopped else { return false }
                state.watches.keys.forEach { forget($0, &state) }
                state.handlers = [:]
                state.isStopped = true
                return true
            }
            guard isFirst else { return }
            // Fails only where there is no such queue any more.
            do throws(Errno) { try Self.change(queue, Self.end(EV_ENABLE, NOTE_TRIGGER)) } catch {}
            thread.waitForEnd()
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
                for (number, watched) in state.watches where watched.subscriber == subscriber { forget(number, &state) }
            }
        }

        package func watch(_ file: borrowing OpenFile, for subscriber: Subscriber) throws(IOError) -> Watch {
            let status = try file.status()
            let isFolder = FileKind(mode: status.st_mode) == .folder
            let (descriptor, identity) = (file.descriptor, FileIdentity(status))
            // Within the lock, so that no event comes before its watch is known.
            let result: Result<Watch, Errno> = state.withLock { state in
                guard !state.isStopped else { return .failure(.badFileDescriptor) }
                let numbers = state.numbers[identity] ?? []
                for number in numbers {
                    guard let other = state.watches[number]?.subscriber else { continue }
                    if other == subscriber { return .success(Watch(number: number)) }
                    guard other.isSharing, subscriber.isSharing else { return .failure(.fileExists) }
                }
                let own = Self.copy(descriptor, isFolder)
                guard own >= 0 else { return .failure(.last) }
                state.lastNumber += 1
                let number = state.lastNumber
                do throws(Errno) {
                    try Self.change(queue, Self.vnode(own, EV_ADD | EV_CLEAR, number))
                } catch {
                    close(own)
                    return .failure(error)
                }
                state.watches[number] = Watched(
                    subscriber: subscriber, identity: identity, isFolder: isFolder, descriptor: own)
                state.numbers[identity] = numbers + [number]
                return .success(Watch(number: number))
            }
            switch result {
            case .success(let watch): return watch
            case .failure(let errno): throw IOError("watch", file.path, errno)
            }
        }

        package func end(_ watch: Watch, of subscriber: Subscriber) {
            state.withLock { state in
                if state.watches[watch.number]?.subscriber == subscriber { forget(watch.number, &state) }
            }
        }

        private func forget(_ number: Int, _ state: inout State) {
            guard let watched = state.watches.removeValue(forKey: number) else { return }
            let others = state.numbers[watched.identity]?.filter { $0 != number } ?? []
            state.numbers[watched.identity] = others.isEmpty ? nil : others
            // Closing it ends the watch as well; whether it ended before makes no difference.
            do throws(Errno) { try Self.change(queue, Self.vnode(watched.descriptor, EV_DELETE, number)) } catch {}
            close(watched.descriptor)
        }

        /// A descriptor for the watch alone, whatever becomes of that of the caller. On Darwin a folder's does not keep
        /// its file system from being unmounted.
        private static func copy(_ descriptor: Int32, _ isFolder: Bool) -> Int32 {
            guard isFolder else { return fcntl(descriptor, F_DUPFD_CLOEXEC, 0) }
            return retrying { openat(descriptor, ".", OpenFile.eventsOnly | O_DIRECTORY | O_CLOEXEC) }
        }

        private func deliver(_ kernelEvents: Slice<UnsafeMutableBufferPointer<KernelEvent>>) {
            let told: [(Handler, [WatchEvent])] = state.withLock { state in
                var batches: [Subscriber: [WatchEvent]] = [:]
                for event in kernelEvents {
                    let number = Int(bitPattern: event.udata)
                    guard let watched = state.watches[number] else { continue }
                    batches[watched.subscriber, default: []].append(
                        .of(
                            Watch(number: number), Self.event(Int32(truncatingIfNeeded: event.fflags), watched.isFolder)
                        ))
                }
                return batches.compactMap { subscriber, events in state.handlers[subscriber].map { ($0, events) } }
            }
            for (handler, events) in told { handler(events) }
        }

        private static func event(_ notes: Int32, _ isFolder: Bool) -> FolderEvent {
            if notes & (NOTE_RENAME | NOTE_DELETE | NOTE_REVOKE) != 0 { return .gone }
            return isFolder && notes & (NOTE_WRITE | NOTE_EXTEND | NOTE_LINK) == 0 ? .rightsChanged : .somethingChanged
        }
    }

    /// The queue's calls.
    extension KqueueEvents {
        /// Microseconds. The kernel tells of many changes to one file at once, if it is given the time.
        private static let firstPause: UInt32 = 500
        private static let longestPause: UInt32 = 2000

        /// Calls `deliver` with events until the one comes that ends it.
        private static func wait(
            for queue: Int32, _ deliver: (Slice<UnsafeMutableBufferPointer<KernelEvent>>) -> Void
        ) {
            withUnsafeTemporaryAllocation(of: KernelEvent.self, capacity: 256) { events in
                // The pause after the events before; 0: there were none.
                var pause: UInt32 = 0
                while true {
                    if pause > 0 { usleep(pause) }
                    var atOnce = timespec()
                    let count = retrying {
                        pause > 0
                            ? kevent(queue, nil, 0, events.baseAddress, Int32(events.count), &atOnce)
                            : kevent(queue, nil, 0, events.baseAddress, Int32(events.count), nil)
                    }
                    guard count >= 0 else { return }
                    let heard = events[..<Int(count)]
                    guard !heard.contains(where: { Int32($0.filter) == EVFILT_USER }) else { return }
                    if count > 0 { deliver(heard) }
                    pause = count > 0 ? max(firstPause, min(2 * pause, longestPause)) : 0
                }
            }
        }

        private static func change(_ queue: Int32, _ change: KernelEvent) throws(Errno) {
            var change = change
            guard retrying({ kevent(queue, &change, 1, nil, 0, nil) }) >= 0 else { throw .last }
        }

        private static func vnode(_ descriptor: Int32, _ flags: Int32, _ number: Int) -> KernelEvent {
            var event = KernelEvent()
            event.ident = numericCast(descriptor)
            event.filter = numericCast(EVFILT_VNODE)
            event.flags = numericCast(flags)
            event.fflags = numericCast(notes)
            event.udata = UnsafeMutableRawPointer(bitPattern: number)
            return event
        }

        /// The event that ends the wait.
        private static func end(_ flags: Int32, _ notes: Int32 = 0) -> KernelEvent {
            var event = KernelEvent()
            event.filter = numericCast(EVFILT_USER)
            event.flags = numericCast(flags)
            event.fflags = numericCast(notes)
            return event
        }
    }
#endif
