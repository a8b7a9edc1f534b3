import Dispatch
import Glibc
import Helpers
import Synchronization
package import SystemPackage

/// Helpers that tell what files are by their content. Each serves one file at a time and many in all; there are as many
/// as were asked at once, and none where nobody asks.
package final class TypeHelpers: Sendable {
    /// The most seconds that a file may take where nobody says otherwise.
    package static let secondsPerFile: Int64 = 60

    /// How often a helper is made for one file that is gone before it sees it.
    private static let tries = 8
    /// How many may be killed over one file: it may have been for the machine's memory.
    private static let mostKilled = 3

    private struct State {
        var idle: [TypeHelper] = []
        var isSweepDue = false
    }

    private let launcher: HelperLauncher
    private let idleTime: Int64
    private let state = Mutex(State())
    private let sweeper = DispatchQueue(label: "dropmill.types")

    /// Helpers of a program that calls `TypeWorker.run` when it is given these arguments. `patience`: the milliseconds
    /// that it may take to make one before it is started anew; `idleTime`: those after which one that nobody asks goes.
    package init(program: FilePath, arguments: [String], patience: Int32 = 10_000, idleTime: Int64 = 60_000) {
        launcher = HelperLauncher(
            program: program.string, arguments: arguments, variables: ["MAGIC", "HOME"], patience: patience)
        self.idleTime = idleTime
    }

    deinit {
        state.withLock { $0.idle = [] }
        launcher.stop()
    }

    /// The type of the file that a descriptor is open on; its offset is moved. Blocks until it is told; whether to go
    /// on waiting is asked every 50 ms.
    package func type(
        of file: Int32, seconds: Int64 = secondsPerFile, unless isStopped: () -> Bool = { false }
    ) throws(TypeFailure) -> MediaType {
        var (tries, killed) = (0, 0)
        while tries < Self.tries {
            let idle = state.withLock { $0.idle.popLast() }
            if idle == nil { tries += 1 }
            var helper = if let idle { idle } else { try launch(unless: isStopped) }
            do throws(TypeFailure) {
                // It may be gone before it begins, or since it was asked last: the first to be killed are helpers.
                guard let type = try helper.type(of: file, seconds: seconds, unless: isStopped) else { continue }
                keep(helper)
                return type
            } catch {
                switch error {
                case .crashed(SIGKILL, _, _) where killed + 1 < Self.mostKilled:
                    killed += 1
                    continue
                case .content, .unreadable: keep(helper)
                // The next one is to have another layout of memory, or the rules that are there by then.
                case .crashed, .overTime, .overCPU, .confused, .unloaded: launcher.distrustServer()
                case .unavailable, .unconfined, .cancelled: break
                }
                throw error
            }
        }
        throw .unavailable(.noChildProcess)
    }

    private func launch(unless isStopped: () -> Bool) throws(TypeFailure) -> TypeHelper {
        do throws(HelperLauncher.Failure) {
            return TypeHelper(try launcher.take(unless: isStopped))
        } catch {
            switch error {
            case .unavailable(let errno): throw .unavailable(errno)
            case .cancelled: throw .cancelled
            }
        }
    }

    private func keep(_ helper: TypeHelper) {
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

    /// Lets those go that nobody asked for a while: they take memory.
    private func sweep() {
        let due = TypeHelper.now() - idleTime
        // Killed when this function is over, and nobody waits for the lock meanwhile.
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
