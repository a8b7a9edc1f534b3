import CLinux
import Dispatch
import Glibc
import Synchronization
package import SystemPackage

/// Has helpers made, on a thread of its own: the kernel kills them and their server when the thread that started the
/// server ends, which is how none outlives the daemon, however that dies.
package final class HelperLauncher: Sendable {
    /// Why there is no helper.
    package enum Failure: Error, Sendable, Equatable {
        /// It could not be started; `noChildProcess`: it was gone before it began, each time.
        case unavailable(Errno)
        /// The caller has given up.
        case cancelled
    }

    private struct State {
        var isRunning = false
        var isOver = false
        /// Whether another server is wanted.
        var isServerSuspect = false
        var made: [Result<Helper, Errno>] = []
        /// Orders whose caller has given up.
        var givenUp = 0
    }

    /// After so long without an order there is no server; and none makes helpers for longer, since they all have the
    /// same layout of memory.
    private static let serverSeconds = 60.0
    /// How often a server is started for one order that is gone before it answers, as where memory is short.
    private static let tries = 8

    private let program: String
    private let arguments: [String]
    private let variables: [String]
    private let patience: Int32
    private let state = Mutex(State())
    private let ordered = DispatchSemaphore(value: 0)
    private let arrived = DispatchSemaphore(value: 0)

    /// Helpers of a program that serves them (`dm_serve_helpers`) when it is given these arguments. `variables`: what
    /// it is told of our environment besides the time zone. `patience`: the milliseconds that a server may take to make
    /// a helper.
    package init(program: String, arguments: [String], variables: [String] = [], patience: Int32) {
        self.program = program
        self.arguments = arguments
        self.variables = variables
        self.patience = patience
    }

    /// A helper. Any thread may ask; the helper must be gone before `stop`. A server may hang: whether to go on waiting
    /// is asked every 50 ms.
    package func lend(unless isStopped: () -> Bool) throws(Failure) -> Helper {
        try startThread()
        ordered.signal()
        while arrived.wait(timeout: .now() + .milliseconds(50)) == .timedOut {
            guard isStopped() else { continue }
            state.withLock { $0.givenUp += 1 }
            throw .cancelled
        }
        switch state.withLock({ $0.made.removeFirst() }) {
        case .success(let helper): return helper
        case .failure(let errno): throw .unavailable(errno)
        }
    }

    /// Has the next helper come from another server, with another layout of memory: all that one has made share one,
    /// and whoever guesses it is to guess again.
    package func distrustServer() { state.withLock { $0.isServerSuspect = true } }

    /// Ends the thread, and with it the server.
    package func stop() {
        state.withLock { $0.isOver = true }
        ordered.signal()
    }

    private func startThread() throws(Failure) {
        let status = state.withLock { state -> Int32 in
            if state.isRunning { return 0 }
            var thread: pthread_t = 0
            // The thread keeps this alive.
            let launcher = Unmanaged.passRetained(self)
            let status = pthread_create(
                &thread, nil,
                { pointer in
                    if let pointer { Unmanaged<HelperLauncher>.fromOpaque(pointer).takeRetainedValue().run() }
                    return nil
                }, launcher.toOpaque())
            state.isRunning = status == 0
            if status == 0 { pthread_detach(thread) } else { launcher.release() }
            return status
        }
        if status != 0 { throw .unavailable(Errno(rawValue: status)) }
    }

    private func run() {
        dm_name_thread("dropmill.helper")
        var server: HelperServer?
        var retires = DispatchTime.now()
        while true {
            // One that nobody needs takes memory, and may have been killed for that.
            if server != nil, ordered.wait(timeout: .now() + Self.serverSeconds) == .timedOut {
                server = nil
            }
            if server == nil { ordered.wait() }
            let (isOver, isQuarantined) = state.withLock { state in
                defer { state.isServerSuspect = false }
                return (state.isOver, state.isServerSuspect)
            }
            if isOver { return }
            if isQuarantined || .now() > retires { server = nil }
            if server == nil { retires = .now() + Self.serverSeconds }
            let made: Result<Helper, Errno>
            do throws(Errno) {
                made = .success(try makeHelper(&server))
            } catch {
                made = .failure(error)
            }
            let isWanted = state.withLock { state in
                guard state.givenUp == 0 else {
                    state.givenUp -= 1
                    return false
                }
                state.made.append(made)
                return true
            }
            if isWanted { arrived.signal() }
        }
    }

    /// A helper of this server, or of a new one where there is none, or where it turns out to be of no use any more.
    private func makeHelper(_ server: inout HelperServer?) throws(Errno) -> Helper {
        var failure = Errno.noChildProcess
        for _ in 0..<Self.tries {
            let old = server.take()
            let current: HelperServer
            if let old { current = old } else { current = try .start(program, arguments, variables) }
            do throws(HelperServer.Failure) {
                let helper = try current.makeHelper(within: patience)
                if !current.isUsedUp { server = current }
                return helper
            } catch {
                switch error {
                case .helper(let errno):
                    server = current
                    throw errno
                case .server(let errno):
                    failure = errno
                    // A new one that hangs will not be the last.
                    if old == nil, errno == .timedOut { throw errno }
                }
            }
        }
        throw failure
    }
}
