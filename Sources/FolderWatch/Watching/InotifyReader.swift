#if os(Linux)
    @preconcurrency import Dispatch
    import Files
    import Platform
    import Synchronization
    import SystemPackage

    /// Reads an inotify descriptor on a thread of its own, and closes it in the end.
    ///
    /// An event that comes alone is read at once. In a burst a wake-up costs more than the events that it finds, and
    /// so does one of whoever is told: those that come within a pause are read together, and the pauses grow. Nothing
    /// waits for the descriptor meanwhile: a Dispatch source would have the kernel wake its thread for each event all
    /// the same.
    final class InotifyReader: Sendable {
        let descriptor: Int32
        /// A pipe, whose end is closed once reading is to end.
        private let (end, stopper): (Int32, Int32)
        private let hasEnded = Atomic(false)
        private let thread = EventThread(named: "dropmill.events")
        /// Held while something is read and delivered.
        private let turn = DispatchSemaphore(value: 1)
        /// How often something was read; for tests.
        let reads = Atomic(0)

        /// Microseconds. The first pause is no longer than a candidate's first one (`ReadyGate.firstPause`).
        private static let firstPause: UInt32 = 500
        private static let longestPause: UInt32 = 2000

        /// Throws where the user's limit of instances is reached (fs.inotify.max_user_instances) or the process has no
        /// descriptor left.
        init() throws(IOError) {
            descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
            guard descriptor >= 0 else { throw IOError("open inotify for", "/proc/sys/fs/inotify", .last) }
            do throws(Errno) {
                (end, stopper) = try OpenFile.pipe()
            } catch {
                close(descriptor)
                throw IOError("open inotify for", "/proc/sys/fs/inotify", error)
            }
        }

        /// Begins to read; `deliver` is called on the reader's thread. To be called once.
        func start(_ deliver: @escaping @Sendable (UnsafeRawBufferPointer) -> Void) throws(IOError) {
            do throws(Errno) {
                try thread.start { @Sendable [self] in read(deliver) }
            } catch {
                [descriptor, end, stopper].forEach { close($0) }
                throw IOError("start a thread for", "/proc/sys/fs/inotify", error)
            }
        }

        private func read(_ deliver: (UnsafeRawBufferPointer) -> Void) {
            while !hasEnded.load(ordering: .acquiring) {
                wait()
                readBurst(deliver)
            }
            // Only here: until then the numbers are not another's.
            close(descriptor)
            close(end)
        }

        /// Ends reading; the descriptor is closed then. To be called once, after a start.
        func stop() {
            hasEnded.store(true, ordering: .releasing)
            close(stopper)
            thread.waitForEnd()
        }

        /// Runs the body on another queue, so that nothing is read meanwhile; tests use it to overflow the kernel's
        /// queue.
        func whileNotReading(_ body: @escaping @Sendable () -> Void) {
            turn.wait()
            DispatchQueue(label: "dropmill.inotify.pause").async { @Sendable [turn] in
                body()
                turn.signal()
            }
        }

        private func wait() {
            var waiting = [descriptor, end].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            _ = retrying { poll(&waiting, nfds_t(waiting.count), -1) }
        }

        private func readBurst(_ deliver: (UnsafeRawBufferPointer) -> Void) {
            withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 8) { buffer in
                var pause = Self.firstPause
                while !hasEnded.load(ordering: .acquiring) {
                    let count = read(into: buffer, deliver)
                    guard count > 0 else { return }
                    // A full buffer: there is more already.
                    guard count < buffer.count / 2 else { continue }
                    usleep(pause)
                    pause = min(2 * pause, Self.longestPause)
                }
            }
        }

        private func read(into buffer: UnsafeMutableRawBufferPointer, _ deliver: (UnsafeRawBufferPointer) -> Void)
            -> Int
        {
            turn.wait()
            defer { turn.signal() }
            let count = retrying { Platform.read(descriptor, buffer.baseAddress, buffer.count) }
            // EAGAIN: nothing there.
            guard count > 0 else { return 0 }
            reads.add(1, ordering: .relaxed)
            deliver(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            return count
        }
    }
#endif
