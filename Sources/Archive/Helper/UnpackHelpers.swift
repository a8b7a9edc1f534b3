import Dispatch
import Glibc
import Synchronization
package import SystemPackage

/// Helpers that unpack one archive each. Some are always started ahead, so that a small archive does not wait for a
/// process to begin.
package final class UnpackHelpers: Sendable {
    /// What a helper may do, and who is asked and told meanwhile.
    package struct Task: Sendable {
        /// What is to be done.
        package var request: UnpackRequest
        /// The most seconds it may take, by the clock on the wall.
        package var seconds: Int64
        /// Told what was done since the last call, and asked whether to go on: at least every 50 ms, wherever the
        /// helper hangs.
        package var monitor: UnpackMonitor
        /// Told once the helper begins, with the version of Landlock that holds it, 0 for none.
        package var begun: @Sendable (Int64) -> Void

        /// A task.
        package init(
            request: UnpackRequest, seconds: Int64, monitor: UnpackMonitor,
            begun: @escaping @Sendable (Int64) -> Void = { _ in }
        ) {
            self.request = request
            self.seconds = seconds
            self.monitor = monitor
            self.begun = begun
        }
    }

    /// How often a helper is started for one archive that is gone before it begins.
    private static let tries = 8

    private let launcher: Launcher
    private let spares: Int

    /// Helpers of a program that calls `UnpackWorker.run` when it is given these arguments. `spares`: how many are
    /// started ahead.
    package init(program: FilePath, arguments: [String], spares: Int = 1) {
        self.spares = spares
        launcher = Launcher(program: program.string, arguments: arguments, spares: spares)
    }

    /// Has a helper unpack an archive to an empty folder. Blocks until it is done or gone; then nothing of it is left
    /// but what it wrote to the folder.
    package func unpack(
        _ task: Task, archive: Int32, folder: Int32
    ) throws(HelperFailure) -> Unpacking.Report {
        // Those that waited may be gone, and so may be others: they are the first to be killed when memory is short.
        for _ in 0..<(spares + Self.tries) {
            let helper = try launcher.take()
            guard try helper.send(task.request, archive: archive, folder: folder) else { continue }
            guard let report = try Self.watch(helper, task) else { continue }
            guard TreeInspection.isHarmless(folder, task.request.policy) else { throw .confused }
            return report
        }
        throw .unavailable(.noChildProcess)
    }

    /// Follows a helper to its end; nil where it was gone before it began.
    private static func watch(
        _ helper: HelperProcess, _ task: Task
    ) throws(HelperFailure) -> Unpacking.Report? {
        let deadline = now() + task.seconds * 1000
        var hasBegun = false
        var (bytes, entries): (Int64, Int64) = (0, 0)
        while true {
            if task.monitor.isStopped() { throw .cancelled }
            let rest = deadline - now()
            guard rest > 0 else { throw .overTime(seconds: task.seconds) }
            guard let received = try helper.receive(within: Int32(min(rest, 50))) else { continue }
            guard let message = received else {
                if !hasBegun { return nil }
                throw helper.ending()
            }
            switch message {
            case .begun(let landlock):
                hasBegun = true
                task.begun(landlock)
            case .progress(let moreBytes, let moreEntries):
                // What is not credible is not counted.
                bytes = bytes.addingReportingOverflow(moreBytes).partialValue
                entries = entries.addingReportingOverflow(moreEntries).partialValue
                task.monitor.report(moreBytes, moreEntries)
            case .done(let report):
                task.monitor.report(max(0, report.bytes &- bytes), max(0, report.entries &- entries))
                return report
            case .failed(.stopped): throw .confused
            case .failed(let error): throw .archive(error)
            case .unconfined(let what): throw .unconfined(what)
            }
        }
    }

    /// Milliseconds since the machine's start.
    private static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}

/// Starts helpers on one thread that lives as long as the process: the kernel kills a helper when the thread that
/// started it ends, which is how none outlives the daemon, however that dies.
private final class Launcher: Sendable {
    private struct State {
        var isRunning = false
        var started: [Result<HelperProcess, Errno>] = []
    }

    private let program: String
    private let arguments: [String]
    private let spares: Int
    private let state = Mutex(State())
    private let ordered = DispatchSemaphore(value: 0)
    private let arrived = DispatchSemaphore(value: 0)

    init(program: String, arguments: [String], spares: Int) {
        self.program = program
        self.arguments = arguments
        self.spares = spares
    }

    /// A helper; another is started in its place.
    func take() throws(HelperFailure) -> HelperProcess {
        try startThread()
        var failure = Errno.noChildProcess
        // That one could not be started a while ago says nothing of now.
        for _ in 0...spares {
            ordered.signal()
            arrived.wait()
            switch state.withLock({ $0.started.removeFirst() }) {
            case .success(let helper): return helper
            case .failure(let errno): failure = errno
            }
        }
        throw .unavailable(failure)
    }

    private func startThread() throws(HelperFailure) {
        let isFirst = state.withLock { state in
            defer { state.isRunning = true }
            return !state.isRunning
        }
        guard isFirst else { return }
        for _ in 0..<spares { ordered.signal() }
        var thread: pthread_t = 0
        // The thread keeps this alive, for good.
        let status = pthread_create(
            &thread, nil,
            { pointer in
                guard let pointer else { return nil }
                Unmanaged<Launcher>.fromOpaque(pointer).takeUnretainedValue().run()
            }, Unmanaged.passRetained(self).toOpaque())
        guard status == 0 else { throw .unavailable(Errno(rawValue: status)) }
        pthread_detach(thread)
    }

    private func run() -> Never {
        while true {
            ordered.wait()
            let started: Result<HelperProcess, Errno>
            do throws(Errno) {
                started = .success(try HelperProcess.start(program, arguments))
            } catch {
                started = .failure(error)
            }
            state.withLock { $0.started.append(started) }
            arrived.signal()
        }
    }
}
