import CLinux
import Glibc
import SystemPackage

/// The process that makes helpers: it has the program loaded, so that each of them begins in a moment, and never sees
/// what strangers made. The thread that starts it must live as long as it and its helpers. It is killed when this goes.
final class HelperServer {
    enum Failure: Error {
        /// The server is gone, hangs, or is not itself: another one is needed.
        case server(Errno)
        /// The server is well, but cannot make a helper now.
        case helper(Errno)
    }

    private let process: pid_t
    private let channel: Int32
    /// Whether it has become a helper itself, and another one is needed.
    private(set) var isUsedUp = false

    private init(process: pid_t, channel: Int32) {
        self.process = process
        self.channel = channel
    }

    deinit {
        // Besides itself there are in its group only those that it made and did not tell of: all others were taken out.
        if !isUsedUp { Children.end(-process) }
        close(channel)
    }

    /// Starts one, with an environment of three variables and those that are named. Its processes are a group of
    /// their own: what a terminal sends to the daemon's is for the daemon to judge.
    static func start(_ program: String, _ arguments: [String], _ variables: [String]) throws(Errno) -> HelperServer {
        var sockets: [Int32] = [-1, -1]
        guard dm_packet_sockets(&sockets) == 0 else { throw Errno(rawValue: errno) }
        let zone = getenv("TZ").map { String(cString: $0) } ?? ":/etc/localtime"
        // LD_BIND_NOW: functions of libraries are looked up once, and not by each copy again.
        let named = variables.compactMap { name in getenv(name).map { name + "=" + String(cString: $0) } }
        let process = withCStrings([program] + arguments) { arguments in
            withCStrings(["TZ=" + zone, "SWIFT_BACKTRACE=enable=no", "LD_BIND_NOW=1"] + named) { environment in
                dm_spawn_server(program, arguments, environment, sockets[1])
            }
        }
        let error = Errno(rawValue: errno)
        close(sockets[1])
        guard process > 0 else {
            close(sockets[0])
            throw error
        }
        return HelperServer(process: process, channel: sockets[0])
    }

    /// A new helper, which waits to be asked; within so many milliseconds.
    func makeHelper(within patience: Int32) throws(Failure) -> Helper {
        var sockets: [Int32] = [-1, -1]
        var pipes: [Int32] = [-1, -1]
        let isReady = dm_packet_sockets(&sockets) == 0 && dm_log_pipe(&pipes) == 0
        let error = Errno(rawValue: errno)
        var ours = [sockets[0], pipes[0]]
        defer { for descriptor in ours + [sockets[1], pipes[1]] where descriptor >= 0 { close(descriptor) } }
        guard isReady else { throw .helper(error) }
        let helper = try order(channel: sockets[1], log: pipes[1], within: patience)
        ours = []
        return Helper(process: helper, channel: sockets[0], log: pipes[0])
    }

    /// Has the server make a helper with these descriptors; its number.
    private func order(channel theirs: Int32, log: Int32, within patience: Int32) throws(Failure) -> pid_t {
        guard dm_send_packet(channel, [1], 1, [theirs, log], 2) == 1 else {
            let error = Errno(rawValue: errno)
            // Gone already, or only a moment later: that is the same.
            throw .server(error == .brokenPipe || error == .connectionReset ? .noChildProcess : error)
        }
        var waiting = pollfd(fd: channel, events: Int16(POLLIN), revents: 0)
        var ready: Int32 = 0
        repeat { ready = poll(&waiting, 1, patience) } while ready < 0 && errno == EINTR
        guard ready > 0 else { throw .server(ready == 0 ? .timedOut : Errno(rawValue: errno)) }
        var answer: Int32 = 0
        var descriptors: [Int32] = [-1, -1, -1, -1]
        var count: Int32 = 0
        let received = dm_receive_packet(channel, &answer, MemoryLayout.size(ofValue: answer), &descriptors, &count)
        guard received == MemoryLayout.size(ofValue: answer), count == 0, answer != 0 else {
            throw .server(.noChildProcess)
        }
        guard answer > 0 else { throw .helper(Errno(rawValue: -answer)) }
        isUsedUp = answer == process
        if !isUsedUp, setpgid(answer, answer) != 0 { throw .server(Errno(rawValue: errno)) }
        return answer
    }

    private static func withCStrings<Result>(
        _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
    ) -> Result {
        let pointers = strings.map { strdup($0) }
        defer { for pointer in pointers { free(pointer) } }
        return body(pointers + [nil])
    }
}
