import Dispatch
import Glibc
import Synchronization

/// Threads of the kernel, without a queue's machinery: in a confined process every system call counts. Such a process
/// can start none, so it has a crew from the beginning; others start each when it is needed.
enum Threads {
    /// Something that another thread does.
    final class Errand: Sendable {
        fileprivate let body: @Sendable () -> Void
        fileprivate let done = DispatchSemaphore(value: 0)

        fileprivate init(_ body: @escaping @Sendable () -> Void) { self.body = body }

        /// Waits until it is done; once.
        func wait() { done.wait() }
    }

    /// The threads that are there for good.
    private struct Crew {
        var isComplete = false
        var idle = 0
        var errands: [Errand] = []
    }

    private static let crew = Mutex(Crew())
    private static let wanted = DispatchSemaphore(value: 0)

    /// Starts a crew of so many threads, or of as many as there can be, which do `prepare` before anything else, and
    /// waits until each has. From then on there are no other threads. Gives whether all are prepared.
    static func hire(_ count: Int, prepare: @escaping @Sendable () -> Bool) -> Bool {
        let failures = Atomic<Int>(0)
        let ready = DispatchSemaphore(value: 0)
        var hired = 0
        let member = Errand {
            if !prepare() { failures.add(1, ordering: .relaxed) }
            ready.signal()
            serve()
        }
        for _ in 0..<max(0, count) where start(member) { hired += 1 }
        for _ in 0..<hired { ready.wait() }
        crew.withLock { crew in
            crew.isComplete = true
            crew.idle = hired
        }
        return failures.load(ordering: .relaxed) == 0
    }

    /// Has another thread do something; nil where there is none to do it.
    static func begin(_ body: @escaping @Sendable () -> Void) -> Errand? {
        let errand = Errand(body)
        let isTaken = crew.withLock { crew -> Bool? in
            guard crew.isComplete else { return nil }
            guard crew.idle > 0 else { return false }
            crew.idle -= 1
            crew.errands.append(errand)
            return true
        }
        guard let isTaken else { return start(errand) ? errand : nil }
        if isTaken { wanted.signal() }
        return isTaken ? errand : nil
    }

    /// Runs the body on so many threads at once, the calling one among them, and waits for all. A missing
    /// thread only costs speed.
    static func run(_ count: Int, _ body: @escaping @Sendable () -> Void) {
        let errands = (1..<max(1, count)).compactMap { _ in begin(body) }
        body()
        for errand in errands { errand.wait() }
    }

    /// A member's life: one errand after the other.
    private static func serve() -> Never {
        while true {
            wanted.wait()
            guard let errand = crew.withLock({ $0.errands.popLast() }) else { continue }
            errand.body()
            // Before whoever waits for it begins the next one.
            crew.withLock { $0.idle += 1 }
            errand.done.signal()
        }
    }

    private static func start(_ errand: Errand) -> Bool {
        var thread: pthread_t = 0
        let errand = Unmanaged.passRetained(errand)
        let status = pthread_create(
            &thread, nil,
            { pointer in
                guard let pointer else { return nil }
                let errand = Unmanaged<Errand>.fromOpaque(pointer).takeRetainedValue()
                errand.body()
                errand.done.signal()
                return nil
            }, errand.toOpaque())
        if status == 0 { pthread_detach(thread) } else { errand.release() }
        return status == 0
    }
}
