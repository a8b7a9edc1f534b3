import Glibc
import Helpers
package import SystemPackage

/// Helpers that unpack one archive each.
package final class UnpackHelpers: Sendable {
    /// What a helper may do, and who is asked and told meanwhile.
    package struct Task: Sendable {
        /// What is to be done.
        package var request: UnpackRequest
        /// The most seconds it may take, by the clock on the wall,
        package var seconds: Int64
        /// and how many more for each GiB that comes out: the disk may be slow.
        package var secondsPerGiB: Int64
        /// Told what was done since the last call, and asked whether to go on: at least every 50 ms, wherever the
        /// helper hangs.
        package var monitor: UnpackMonitor
        /// Told once the helper begins, with the version of Landlock that holds it; for none with the number of the
        /// error that says why, and a minus sign.
        package var begun: @Sendable (Int64) -> Void

        package init(
            request: UnpackRequest, seconds: Int64, secondsPerGiB: Int64 = 0, monitor: UnpackMonitor,
            begun: @escaping @Sendable (Int64) -> Void = { _ in }
        ) {
            self.request = request
            self.seconds = seconds
            self.secondsPerGiB = secondsPerGiB
            self.monitor = monitor
            self.begun = begun
        }

        /// The most seconds it may take when it says that so many bytes are out. No more are believed than may be.
        func seconds(after bytes: Int64) -> Int64 {
            let pieces = max(0, min(bytes, request.policy.limits.bytes)) >> 20
            return seconds + Int64(Double(secondsPerGiB) * Double(pieces) / 1024)
        }
    }

    /// How often a helper is made for one archive that is gone before it begins.
    private static let tries = 8

    private let launcher: HelperLauncher

    /// Helpers of a program that calls `UnpackWorker.run` when it is given these arguments. `patience`: the
    /// milliseconds that it may take to make one before it is restarted.
    package init(program: FilePath, arguments: [String], patience: Int32 = 10_000) {
        launcher = HelperLauncher(program: program.string, arguments: arguments, patience: patience)
    }

    deinit { launcher.stop() }

    /// Has a helper unpack an archive to an empty folder. Blocks until it is done or gone; then nothing of it is left
    /// but what it wrote to the folder.
    package func unpack(
        _ task: Task, archive: Int32, folder: Int32
    ) throws(HelperFailure) -> Unpacking.Report {
        do throws(HelperFailure) {
            // It may be gone before it begins, and so may others: they are the first to be killed when memory is short.
            for _ in 0..<Self.tries {
                guard let report = try helperUnpacks(task, archive: archive, folder: folder) else { continue }
                guard TreeInspection.isHarmless(folder, task.request.policy) else { throw .confused }
                return report
            }
        } catch {
            switch error {
            case .crashed, .confused, .overgrown, .overTime, .overCPU, .unloaded: launcher.distrustServer()
            case .archive, .unavailable, .unconfined, .cancelled: break
            }
            throw error
        }
        throw .unavailable(.noChildProcess)
    }

    /// One helper's whole life; nil where it was gone before it began. Once this returns it can change nothing any
    /// more.
    private func helperUnpacks(
        _ task: Task, archive: Int32, folder: Int32
    ) throws(HelperFailure) -> Unpacking.Report? {
        let helper: HelperProcess
        do throws(HelperLauncher.Failure) {
            helper = HelperProcess(try launcher.lend(unless: task.monitor.isStopped))
        } catch {
            throw HelperFailure(error)
        }
        guard try helper.send(task.request, archive: archive, folder: folder) else { return nil }
        return try Self.watch(helper, task, HelperGuard(folder, task.request.policy.limits))
    }

    /// Follows a helper to its end; nil where it was gone before it began.
    private static func watch(
        _ helper: HelperProcess, _ task: Task, _ held: HelperGuard
    ) throws(HelperFailure) -> Unpacking.Report? {
        var held = held
        let start = now()
        var hasBegun = false
        var (bytes, entries): (Int64, Int64) = (0, 0)
        while true {
            if task.monitor.isStopped() { throw .cancelled }
            let seconds = task.seconds(after: bytes)
            let rest = start + seconds * 1000 - now()
            guard rest > 0 else { throw .overTime(seconds: seconds) }
            let received = try helper.receive(within: Int32(min(rest, 50)))
            try held.check(told: bytes, isSilent: received == nil)
            guard let received else { continue }
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
            case .unconfined(let call, let errno): throw .unconfined(call: call, Errno(rawValue: errno))
            case .unloaded(let words): throw .unloaded(words)
            }
        }
    }

    private static func now() -> Int64 { Clock.now() / 1_000_000 }
}
