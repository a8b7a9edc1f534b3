import Dispatch
import Glibc
import Synchronization
package import SystemPackage

/// Helpers that answer questions about one open file after the other (`FileWorker`): as many as are used at once,
/// and none when idle.
package final class FileHelpers: Sendable {
    /// Why there is no answer.
    package enum Failure: Error, Sendable, Equatable {
        /// A helper could not be started; `noChildProcess`: it was gone before it began, each time.
        case unavailable(Errno)
        /// It could not be confined; with what is missing.
        case unconfined(String)
        /// It ended over the file: by that signal, or with that status where it is 0; and what it wrote last.
        case crashed(signal: Int32, status: Int32, log: String)
        /// It exceeded its time limit.
        case overTime(seconds: Int64)
        /// It exceeded its CPU time.
        case overCPU
        /// It broke the protocol.
        case confused
        /// The work was called off.
        case cancelled
    }

    /// What was understood of an answer. `isSound`: whether the helper that gave it may go on.
    package struct Understood<Answer> {
        let answer: Answer
        let isSound: Bool

        package init(_ answer: Answer, isSound: Bool = true) {
            self.answer = answer
            self.isSound = isSound
        }
    }

    /// How often a helper is started for one file if it dies before it receives the file.
    private static let tries = 8
    /// How many may be killed with one file: the cause may be a lack of memory.
    private static let mostKilled = 3

    private struct State {
        var idle: [FileHelper] = []
        var isSweepDue = false
    }

    private let launcher: HelperLauncher
    private let idleTime: Int64
    private let state = Mutex(State())
    private let sweeper = DispatchQueue(label: "dropmill.helpers")

    /// Helpers of a program that serves those which call `FileWorker.answer` when it is given these arguments.
    /// `variables`: what it inherits of our environment; `patience`: the milliseconds that it may take to make one
    /// before it is restarted; `idleTime`: those after which one that nobody asks goes.
    package init(
        program: FilePath, arguments: [String], variables: [String] = [], patience: Int32 = 10_000,
        idleTime: Int64 = 60_000
    ) {
        launcher = HelperLauncher(
            program: program.string, arguments: arguments, variables: variables, patience: patience)
        self.idleTime = idleTime
    }

    deinit {
        state.withLock { $0.idle = [] }
        launcher.stop()
    }

    /// The answer about the file that a descriptor is open on; its offset may be moved. `understand`: nil for what no
    /// helper says. Blocks until it is told; whether to go on waiting is asked every 50 ms.
    package func ask<Answer>(
        about file: Int32, seconds: Int64, unless isStopped: () -> Bool = { false },
        understand: ([UInt8]) -> Understood<Answer>?
    ) throws(Failure) -> Answer {
        var (tries, killed) = (0, 0)
        while tries < Self.tries {
            let idle = state.withLock { $0.idle.popLast() }
            if idle == nil { tries += 1 }
            var helper = if let idle { idle } else { try launch(unless: isStopped) }
            do throws(Failure) {
                // It may be gone before it begins, or since it was asked last: the first to be killed are helpers.
                guard let packet = try helper.answer(about: file, seconds: seconds, unless: isStopped) else { continue }
                guard let understood = understand(packet) else { throw .confused }
                if understood.isSound { keep(helper) } else { launcher.distrustServer() }
                return understood.answer
            } catch {
                switch error {
                case .crashed(SIGKILL, _, _) where killed + 1 < Self.mostKilled:
                    killed += 1
                    continue
                // The next one is to have another layout of memory.
                case .crashed, .overTime, .overCPU, .confused: launcher.distrustServer()
                case .unavailable, .unconfined, .cancelled: break
                }
                throw error
            }
        }
        throw .unavailable(.noChildProcess)
    }

    private func launch(unless isStopped: () -> Bool) throws(Failure) -> FileHelper {
        do throws(HelperLauncher.Failure) {
            return FileHelper(try launcher.lend(unless: isStopped))
        } catch {
            switch error {
            case .unavailable(let errno): throw .unavailable(errno)
            case .cancelled: throw .cancelled
            }
        }
    }

    private func keep(_ helper: FileHelper) {
        guard helper.isFresh else { return }
        let isFirst = state.withLock { state in
            state.idle.append(helper)
            defer { state.isSweepDue = true }
            return !state.isSweepDue
        }
        if isFirst { sweepLater() }
    }

    private func sweepLater() {
        sweeper.asyncAfter(deadline: .now() + .milliseconds(Int(idleTime))) { [weak self] in self?.sweep() }
    }

    /// Releases those not used for a while: they take memory.
    private func sweep() {
        let due = FileHelper.now() - idleTime
        // Killed when this function returns, outside the lock.
        let (old, isLater) = state.withLock { state in
            let old = state.idle.filter { $0.lastUse <= due }
            state.idle.removeAll { $0.lastUse <= due }
            state.isSweepDue = !state.idle.isEmpty
            return (old, state.isSweepDue)
        }
        if isLater { sweepLater() }
        withExtendedLifetime(old) {}
    }
}
