@preconcurrency import Dispatch
import Platform
import SystemPackage

/// A thread that waits for a kernel's events. Not a queue: that would take one of Dispatch's threads for good, of which
/// a process has 255.
final class EventThread: Sendable {
    private let name: String
    private let hasEnded = DispatchSemaphore(value: 0)
    /// Told apart by a value of the thread's own, since a thread must not wait for itself.
    private static let isOne = ThreadMark()

    /// A thread of this name, of at most 15 bytes, which has not begun.
    init(named name: String) { self.name = name }

    /// Whether the caller runs on such a thread.
    static var isCurrent: Bool { isOne.isSet }

    private final class Work: Sendable {
        let thread: EventThread
        let body: @Sendable () -> Void

        init(_ thread: EventThread, _ body: @escaping @Sendable () -> Void) {
            self.thread = thread
            self.body = body
        }
    }

    /// Runs the body on the thread. To be called once.
    func start(_ body: @escaping @Sendable () -> Void) throws(Errno) {
        let work = Unmanaged.passRetained(Work(self, body))
        #if os(Linux)
            var thread = pthread_t()
        #else
            var thread: pthread_t?
        #endif
        // Signals are for the threads of the program.
        var (all, before) = (sigset_t(), sigset_t())
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &before)
        let error = pthread_create(
            &thread, nil,
            { context in
                // Darwin says that there is a context, Linux does not.
                let context: UnsafeMutableRawPointer? = context
                guard let context else { return nil }
                let work = Unmanaged<Work>.fromOpaque(context).takeRetainedValue()
                EventThread.isOne.set()
                work.thread.setName()
                work.body()
                work.thread.hasEnded.signal()
                return nil
            }, work.toOpaque())
        pthread_sigmask(SIG_SETMASK, &before, nil)
        guard error == 0 else {
            work.release()
            throw Errno(rawValue: error)
        }
        #if os(Linux)
            pthread_detach(thread)
        #else
            if let thread { pthread_detach(thread) }
        #endif
    }

    /// Waits until the body has returned; not on such a thread itself. To be called once, after a start.
    func waitForEnd() {
        if !Self.isCurrent { hasEnded.wait() }
    }

    private func setName() {
        #if canImport(Darwin)
            pthread_setname_np(name)
        #elseif os(Linux)
            // Glibc's pthread_setname_np is not visible to Swift.
            let file = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
            guard file >= 0 else { return }
            _ = write(file, name, name.utf8.count)
            close(file)
        #endif
    }
}

/// A mark that a thread has or has not.
private struct ThreadMark: Sendable {
    private let key: pthread_key_t

    init() {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        self.key = key
    }

    func set() { pthread_setspecific(key, UnsafeRawPointer(bitPattern: 1)) }

    var isSet: Bool { pthread_getspecific(key) != nil }
}
